#include "driver/sparse.h"

#include "analysis/safe.h"
#include "base/str.h"
#include "driver/merge.h"
#include "host/process.h"
#include "ir/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const char magic[8] = "DHSAFE02";

/* Followed by one byte for each site. */
struct part {
    char magic[8];
    uint32_t n_sites, accesses, race, private, unit;
    char gave_up[120];
    uint8_t of_site[];
};

struct learning {
    LLVMModuleRef module;
    struct part *part; /* shared with the child */
    const struct dh_site_table *sites;
    uint32_t also;
    bool asked;
};

/* Of processor time, enough for the largest programs tried; whoever needs more has everything watched. */
enum { SECONDS = 60, SECONDS_UNASKED = 10, INSTRUCTIONS_UNASKED = 100000 };

/* Whatever keeps its name after the link has made all others local is used by code without bitcode. */
static bool is_local(LLVMValueRef v)
{
    LLVMLinkage l = LLVMGetLinkage(v);
    size_t n;
    const char *name = LLVMGetValueName2(v, &n);
    return LLVMIsDeclaration(v) || l == LLVMInternalLinkage || l == LLVMPrivateLinkage ||
           l == LLVMAvailableExternallyLinkage || strcmp(name, "main") == 0 || dh_starts_with(name, "llvm.") ||
           dh_safe_is_standard(name);
}

static bool is_closed(struct learning *l)
{
    LLVMValueRef open = NULL;
    size_t n;
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f && !open; f = LLVMGetNextFunction(f))
        open = is_local(f) ? NULL : f;
    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g && !open; g = LLVMGetNextGlobal(g))
        open = is_local(g) || LLVMIsGlobalConstant(g) ? NULL : g;
    if (open)
        snprintf(l->part->gave_up, sizeof l->part->gave_up, "others may use %s", LLVMGetValueName2(open, &n));
    return !open;
}

/* What annotations say of threads, locks and owners is believed by the detector alone. */
static bool is_annotation(const char *name)
{
    static const char *const begins[] = {"__tsan_",           "Annotate",        "WTFAnnotate", "__deadheat_transfer",
                                         "__deadheat_accept", "__deadheat_lock_"};
    for (size_t n = 0; n < sizeof begins / sizeof *begins; n++)
        if (dh_starts_with(name, begins[n]))
            return true;
    return false;
}

static bool is_annotated(struct learning *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (!is_annotation(name) || !LLVMGetFirstUse(f))
            continue;
        snprintf(l->part->gave_up, sizeof l->part->gave_up, "it is annotated with %s", name);
        return true;
    }
    return false;
}

/* Pointers in values of 16 bytes, or that libatomic takes by address, are not followed. */
static bool is_wide(LLVMValueRef i)
{
    LLVMTypeRef t = LLVMTypeOf(LLVMIsAAtomicRMWInst(i)       ? LLVMGetOperand(i, 1)
                               : LLVMIsAAtomicCmpXchgInst(i) ? LLVMGetOperand(i, 2)
                               : LLVMIsAStoreInst(i)         ? LLVMGetOperand(i, 0)
                                                             : i);
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) > 64;
}

static bool has_part(LLVMValueRef v, unsigned depth)
{
    enum { DEEPEST = 6 };
    if (!LLVMIsAInstruction(v) || depth > DEEPEST)
        return LLVMIsAInstruction(v);
    if (LLVMIsAZExtInst(v) || LLVMIsASExtInst(v))
        return true;
    bool parts = LLVMIsABinaryOperator(v) || LLVMIsAPHINode(v) || LLVMIsASelectInst(v);
    for (int k = 0; parts && k < LLVMGetNumOperands(v); k++)
        if (has_part(LLVMGetOperand(v, (unsigned)k), depth + 1))
            return true;
    return false;
}

/* Joined of several integers that are narrower than a pointer, in which pointers are not followed. */
static bool is_pieced(LLVMValueRef v)
{
    return LLVMIsABinaryOperator(v) && has_part(LLVMGetOperand(v, 0), 0) && has_part(LLVMGetOperand(v, 1), 0);
}

static const char *why_not(LLVMValueRef i)
{
    bool accesses = LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
    if (accesses && is_wide(i))
        return "there are atomics or values of 16 bytes";
    return LLVMIsAIntToPtrInst(i) && is_pieced(LLVMGetOperand(i, 0)) ? "pointers are put together from parts" : NULL;
}

static const char *why_not_function(LLVMValueRef f)
{
    size_t n;
    const char *why = LLVMIsDeclaration(f) && dh_starts_with(LLVMGetValueName2(f, &n), "__atomic_")
                          ? "there are atomics or values of 16 bytes"
                          : NULL;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && !why; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !why; i = LLVMGetNextInstruction(i))
            why = why_not(i);
    return why;
}

/* The linker's names for all that lies in a section, and assembly: other names of what the program has. */
static const char *why_not_module(LLVMModuleRef m)
{
    size_t n;
    LLVMGetModuleInlineAsm(m, &n);
    if (n)
        return "there is assembly outside functions";
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        if (LLVMIsDeclaration(g) && (dh_starts_with(LLVMGetValueName2(g, &n), "__start_") ||
                                     dh_starts_with(LLVMGetValueName2(g, &n), "__stop_")))
            return "a section is gone through by its bounds";
    return NULL;
}

static bool is_followed(struct learning *l)
{
    const char *why = why_not_module(l->module);
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f && !why; f = LLVMGetNextFunction(f))
        why = why_not_function(f);
    if (why)
        snprintf(l->part->gave_up, sizeof l->part->gave_up, "%s", why);
    return !why;
}

static bool is_affordable(struct learning *l)
{
    uint64_t n = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f && !l->asked; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                n += !LLVMIsADbgInfoIntrinsic(i);
    if (n > INSTRUCTIONS_UNASKED)
        snprintf(l->part->gave_up, sizeof l->part->gave_up,
                 "it is large, and -fdeadheat-sparse did not ask for the analysis");
    return n <= INSTRUCTIONS_UNASKED;
}

/* An array's element itself, not a member of it. */
static bool is_element(const struct dh_site_table *t, const struct dh_site *s)
{
    const char *field = dh_site_string(t, s->field);
    return s->flags & DH_SITE_ELEMENT && (!*field || field[strlen(field) - 1] == ']');
}

static uint8_t *elements_of(const struct dh_site_table *t)
{
    uint8_t *all = malloc(t->n_sites + 1);
    for (uint32_t i = 0; all && i < t->n_sites; i++)
        all[i] = is_element(t, &t->sites[i]);
    return all;
}

static void copy_result(struct part *part, const struct dh_safe *safe)
{
    part->accesses = safe->accesses;
    part->race = safe->race;
    part->private = safe->private;
    part->unit = safe->unit;
    memcpy(part->of_site, safe->of_site, safe->n_sites);
    memcpy(part->gave_up, safe->gave_up, sizeof part->gave_up - 1);
}

static bool learn_in_child(void *arg, struct dh_err *err)
{
    struct learning *l = arg;
    rlim_t seconds = l->asked ? SECONDS : SECONDS_UNASKED;
    struct rlimit time = {seconds, seconds};
    struct dh_models models;
    struct dh_program program;
    struct dh_safe safe;
    if (!is_affordable(l) || !is_closed(l) || !is_followed(l) || is_annotated(l))
        return true;
    setrlimit(RLIMIT_CPU, &time);
    dh_models_init(&models);
    bool ok = dh_ir_model(l->module, &models, false, true, &program, err);
    if (ok) {
        uint8_t *elements = elements_of(l->sites);
        dh_safe_find(&safe, &program, l->part->n_sites, elements, l->also);
        copy_result(l->part, &safe);
        free(elements);
        dh_safe_release(&safe);
    }
    dh_program_release(&program);
    dh_models_release(&models);
    return ok;
}

static struct dh_bytes take_part(struct part *part, size_t n)
{
    struct dh_str out = {0};
    dh_str_add_n(&out, (const char *)part, n);
    return dh_bytes_take(&out);
}

struct dh_bytes dh_sparse_learn(LLVMModuleRef m, const struct dh_site_table *t, uint32_t also, bool asked)
{
    uint32_t n_sites = t->n_sites;
    size_t n = sizeof(struct part) + n_sites;
    struct dh_err err = {0};
    struct part *part = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (part == MAP_FAILED)
        return (struct dh_bytes){0};
    memcpy(part->magic, magic, sizeof magic);
    part->n_sites = n_sites;
    struct learning l = {m, part, t, also, asked};
    if (!dh_child_run("the analysis", learn_in_child, &l, &err)) {
        memset(part->of_site, 0, n_sites);
        part->accesses = part->race = part->private = part->unit = 0;
        snprintf(part->gave_up, sizeof part->gave_up, "%s", err.text ? err.text : "the analysis failed");
    }
    dh_err_release(&err);
    struct dh_bytes all = take_part(part, n);
    munmap(part, n);
    return all;
}

bool dh_sparse_of_program(const struct dh_container *c, const struct dh_site_table *t, uint32_t also,
                          struct dh_bytes *part, struct dh_err *err)
{
    struct dh_bytes module;
    if (!dh_container_read(c, DH_PART_MODULE, &module, err))
        return false;
    LLVMModuleRef m = dh_parse_bitcode(dh_context_new(), "embedded module", module.at, module.n, err);
    dh_bytes_release(&module);
    if (m)
        *part = dh_sparse_learn(m, t, also, true);
    return m;
}

bool dh_sparse_read(const struct dh_bytes *b, struct dh_sparse_facts *facts)
{
    const struct part *part = (const struct part *)b->at;
    if (b->n < sizeof *part || memcmp(part->magic, magic, sizeof magic) != 0 || part->n_sites != b->n - sizeof *part ||
        part->gave_up[sizeof part->gave_up - 1])
        return false;
    *facts = (struct dh_sparse_facts){part->of_site, part->n_sites, part->accesses, part->race,
                                      part->private, part->unit,    part->gave_up};
    return true;
}

bool dh_sparse_wanted(const struct dh_plan *plan)
{
    return (plan->degree != DH_DEGREE_ALL || plan->no_arrays) &&
           plan->everywhere & (DH_CLASS_RACE | DH_CLASS_CONSISTENCY);
}

/* Classes that a site may do without. */
static unsigned spared(const struct dh_plan *plan, const struct dh_site_table *t, const struct dh_site *s,
                       unsigned safety)
{
    unsigned all = 0;
    if (plan->degree == DH_DEGREE_ALL)
        safety = 0;
    if (safety & DH_SAFE_RACE)
        all |= DH_CLASS_RACE;
    if (safety & (DH_SAFE_PRIVATE | DH_SAFE_UNIT))
        all |= DH_CLASS_CONSISTENCY;
    if (plan->no_arrays && dh_site_is_element(t, s))
        all |= DH_CLASS_RACE | DH_CLASS_CONSISTENCY;
    return all;
}

/* Activations matter for nothing but the consistency detector's own accesses, unless events are recorded. */
static bool spares_scope(const struct dh_plan *plan, unsigned safety)
{
    unsigned others =
        plan->everywhere & ~(unsigned)(DH_CLASS_RACE | DH_CLASS_ALIVE | DH_CLASS_CONSISTENCY | DH_CLASS_SCOPE);
    unsigned quiet = plan->no_arrays ? DH_SAFE_SCOPE_NO_ARRAYS : DH_SAFE_SCOPE;
    return !others && plan->everywhere & DH_CLASS_CONSISTENCY && plan->degree != DH_DEGREE_ALL && safety & quiet;
}

void dh_sparse_apply(const struct dh_sparse_facts *facts, const struct dh_site_table *t, struct dh_plan *plan)
{
    uint32_t n = t->n_sites < facts->n_sites ? t->n_sites : facts->n_sites;
    if (*facts->gave_up && !plan->no_arrays)
        return;
    uint16_t *bits = malloc((t->n_sites + 1) * sizeof *bits);
    if (!bits)
        abort();
    for (uint32_t i = 0; i < t->n_sites; i++)
        bits[i] = (uint16_t)dh_plan_classes(plan, i);
    for (uint32_t i = 0; i < n; i++) {
        enum dh_group group = dh_op_info(t->sites[i].op)->group;
        bool alive = group == DH_GROUP_ACCESS && bits[i] & DH_CLASS_RACE && plan->degree != DH_DEGREE_ALL &&
                     facts->of_site[i] & DH_SAFE_ORDERED;
        if (group == DH_GROUP_ACCESS || group == DH_GROUP_MEMORY)
            bits[i] &= (uint16_t)~spared(plan, t, &t->sites[i], facts->of_site[i]);
        if (group == DH_GROUP_FUNCTION && spares_scope(plan, facts->of_site[i]))
            bits[i] &= (uint16_t)~DH_CLASS_SCOPE;
        if (alive && bits[i] & DH_CLASS_RACE)
            bits[i] = (uint16_t)((bits[i] & ~DH_CLASS_RACE) | DH_CLASS_ALIVE);
    }
    free((void *)plan->bits);
    plan->bits = bits;
    plan->n_bits = t->n_sites;
    plan->proven = true;
}
