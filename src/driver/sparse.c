#include "driver/sparse.h"

#include "analysis/race_free_proofs.h"
#include "base/alloc.h"
#include "base/str.h"
#include "driver/clone_trial.h"
#include "driver/merge.h"
#include "host/process.h"
#include "ir/model_reader.h"
#include "model/library_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

static const char magic[8] = "DHSAFE03";

/* Followed by clones (functions, redirects, proofs: driver/apply_clones.h) and one byte for each site. */
struct part {
    char magic[8];
    uint32_t n_sites, accesses, race, private, consistent;
    char gave_up[120];
    uint32_t n_copies, n_redirects, n_marks, n_functions, size, added;
};

/* Shared with the child. */
struct result {
    struct part part;
    bool done; /* the proofs are complete; the trial of clones may follow */
    struct dh_clone_trial tryout;
    uint8_t of_site[];
};

struct analysis {
    LLVMModuleRef module;
    struct result *to;
    const struct dh_site_table *sites;
    uint64_t also;
    bool asked;
};

/* Limits of processor time, enough for the largest programs tried; beyond them a program is checked fully. */
enum { SECONDS = 60, SECONDS_UNASKED = 10, INSTRUCTIONS_UNASKED = 100000 };

/* A symbol that is still external after internalising is used by code without bitcode. */
static bool is_local(LLVMValueRef v)
{
    LLVMLinkage l = LLVMGetLinkage(v);
    size_t n;
    const char *name = LLVMGetValueName2(v, &n);
    return LLVMIsDeclaration(v) || l == LLVMInternalLinkage || l == LLVMPrivateLinkage ||
           l == LLVMAvailableExternallyLinkage || strcmp(name, "main") == 0 || dh_starts_with(name, "llvm.") ||
           dh_library_is_copy(name);
}

static bool is_closed(struct analysis *l)
{
    LLVMValueRef open = NULL;
    size_t n;
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f && !open; f = LLVMGetNextFunction(f))
        open = is_local(f) ? NULL : f;
    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g && !open; g = LLVMGetNextGlobal(g))
        open = is_local(g) || LLVMIsGlobalConstant(g) ? NULL : g;
    if (open)
        snprintf(l->to->part.gave_up, sizeof l->to->part.gave_up, "others may use %s", LLVMGetValueName2(open, &n));
    return !open;
}

/* Only the detector understands what annotations declare about threads, locks and owners. */
static bool is_annotation(const char *name)
{
    static const char *const begins[] = {"__tsan_",           "Annotate",        "WTFAnnotate", "__deadheat_transfer",
                                         "__deadheat_accept", "__deadheat_lock_"};
    for (size_t n = 0; n < sizeof begins / sizeof *begins; n++)
        if (dh_starts_with(name, begins[n]))
            return true;
    return false;
}

static bool is_annotated(struct analysis *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (!is_annotation(name) || !LLVMGetFirstUse(f))
            continue;
        snprintf(l->to->part.gave_up, sizeof l->to->part.gave_up, "it is annotated with %s", name);
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

/* A pointer composed of integers narrower than a pointer, through which pointers are not followed. */
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

/* Section bounds and assembly alias the program's variables. */
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

static bool is_followed(struct analysis *l)
{
    const char *why = why_not_module(l->module);
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f && !why; f = LLVMGetNextFunction(f))
        why = why_not_function(f);
    if (why)
        snprintf(l->to->part.gave_up, sizeof l->to->part.gave_up, "%s", why);
    return !why;
}

static bool is_affordable(struct analysis *l)
{
    uint64_t n = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f && !l->asked; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                n += !LLVMIsADbgInfoIntrinsic(i);
    if (n > INSTRUCTIONS_UNASKED)
        snprintf(l->to->part.gave_up, sizeof l->to->part.gave_up,
                 "it is large, and -fdeadheat-sparse did not ask for the analysis");
    return n <= INSTRUCTIONS_UNASKED;
}

static uint8_t *elements_of(const struct dh_site_table *t)
{
    uint8_t *all = dh_xmalloc(t->n_sites);
    for (uint32_t i = 0; i < t->n_sites; i++)
        all[i] = dh_site_is_element(t, &t->sites[i]);
    return all;
}

static void copy_result(struct result *to, const struct dh_race_free *safe)
{
    to->part.accesses = safe->accesses;
    to->part.race = safe->race;
    to->part.private = safe->private;
    to->part.consistent = safe->consistent;
    memcpy(to->of_site, safe->of_site, safe->n_sites);
    memcpy(to->part.gave_up, safe->gave_up, sizeof to->part.gave_up - 1);
    to->done = true;
}

/* The trial of clones analyses once more; it must fit into the limit. */
static bool has_time(rlim_t seconds)
{
    return (rlim_t)(clock() / CLOCKS_PER_SEC) < seconds * 2 / 5;
}

static void analyse(struct analysis *l, const struct dh_library_models *models, const struct dh_program *program,
                    rlim_t seconds)
{
    struct dh_function_clones clones = {0};
    struct dh_race_free safe;
    uint8_t *copyable = dh_clonable_functions(l->module, program), *elements = elements_of(l->sites);
    struct dh_race_free_query q = {
        .n_sites = l->to->part.n_sites, .elements = elements, .also = l->also, .clones = &clones, .copyable = copyable};
    dh_race_free_find(&safe, program, &q);
    copy_result(l->to, &safe);
    if (has_time(seconds))
        dh_clone_trial_run(&l->to->tryout, l->module, models, program, &safe, &clones, l->also);
    dh_race_free_release(&safe);
    dh_function_clones_release(&clones);
    free(copyable);
    free(elements);
}

static bool analyse_in_child(void *arg, struct dh_err *err)
{
    struct analysis *l = arg;
    rlim_t seconds = l->asked ? SECONDS : SECONDS_UNASKED;
    struct rlimit time = {seconds, seconds};
    struct dh_library_models models;
    struct dh_program program;
    if (!is_affordable(l) || !is_closed(l) || !is_followed(l) || is_annotated(l))
        return true;
    setrlimit(RLIMIT_CPU, &time);
    dh_library_models_init(&models);
    dh_clones_number_calls(l->module, l->to->part.n_sites);
    bool ok = dh_ir_read_model(l->module, &models, false, true, &program, err);
    if (ok)
        analyse(l, &models, &program, seconds);
    dh_clones_unnumber_calls(l->module, l->to->part.n_sites);
    dh_program_release(&program);
    dh_library_models_release(&models);
    return ok;
}

/* The part without unused entries of its arrays. */
static struct dh_bytes write_part(const struct result *l)
{
    struct dh_str out = {0};
    struct part part = l->part;
    const struct dh_clone_trial *t = &l->tryout;
    part.n_copies = t->n_copies;
    part.n_redirects = t->n_redirects;
    part.n_marks = t->n_copies ? t->n_marks : 0;
    part.n_functions = t->n_functions;
    part.size = t->size;
    part.added = t->added;
    dh_str_add_n(&out, (const char *)&part, sizeof part);
    dh_str_add_n(&out, (const char *)t->functions, part.n_copies * sizeof *t->functions);
    dh_str_add_n(&out, (const char *)t->redirects, part.n_redirects * sizeof *t->redirects);
    dh_str_add_n(&out, (const char *)t->marks, part.n_marks * sizeof *t->marks);
    dh_str_add_n(&out, (const char *)l->of_site, part.n_sites);
    return dh_bytes_take(&out);
}

/* The child failed; proofs that were complete before the trial of clones are valid. */
static void recover(struct result *l, const struct dh_err *err)
{
    memset(&l->tryout, 0, sizeof l->tryout);
    if (l->done)
        return;
    memset(l->of_site, 0, l->part.n_sites);
    l->part.accesses = l->part.race = l->part.private = l->part.consistent = 0;
    snprintf(l->part.gave_up, sizeof l->part.gave_up, "%s", err->text ? err->text : "the analysis failed");
}

struct dh_bytes dh_sparse_analyse(LLVMModuleRef m, const struct dh_site_table *t, uint64_t also, bool asked)
{
    uint32_t n_sites = t->n_sites;
    size_t n = sizeof(struct result) + n_sites;
    struct dh_err err = {0};
    struct result *to = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (to == MAP_FAILED)
        return (struct dh_bytes){0};
    memcpy(to->part.magic, magic, sizeof magic);
    to->part.n_sites = n_sites;
    struct analysis l = {m, to, t, also, asked};
    if (!dh_child_run("the analysis", analyse_in_child, &l, &err))
        recover(to, &err);
    dh_err_release(&err);
    struct dh_bytes all = write_part(to);
    munmap(to, n);
    return all;
}

bool dh_sparse_analyse_program(const struct dh_container *c, const struct dh_site_table *t, uint64_t also,
                               struct dh_bytes *part, struct dh_str *copies, struct dh_err *err)
{
    struct dh_sparse_proofs proofs;
    struct dh_bytes module;
    if (!dh_container_read(c, DH_PART_MODULE, &module, err))
        return false;
    LLVMModuleRef m = dh_parse_bitcode(dh_context_new(), "embedded module", module.at, module.n, err);
    dh_bytes_release(&module);
    if (!m)
        return false;
    LLVMSetIsNewDbgInfoFormat(m, 0);
    *part = dh_sparse_analyse(m, t, also, true);
    if (dh_sparse_read(part, &proofs))
        dh_clones_describe(m, &proofs.copies, t->n_sites, copies);
    return true;
}

bool dh_sparse_read(const struct dh_bytes *b, struct dh_sparse_proofs *proofs)
{
    const struct part *part = (const struct part *)b->at;
    if (b->n < sizeof *part || memcmp(part->magic, magic, sizeof magic) != 0 || part->gave_up[sizeof part->gave_up - 1])
        return false;
    const uint32_t *functions = (const uint32_t *)(part + 1);
    const struct dh_clone_redirect *redirects = (const struct dh_clone_redirect *)(functions + part->n_copies);
    const struct dh_clone_proof *marks = (const struct dh_clone_proof *)(redirects + part->n_redirects);
    uint64_t n = sizeof *part + (uint64_t)part->n_copies * sizeof *functions +
                 (uint64_t)part->n_redirects * sizeof *redirects + (uint64_t)part->n_marks * sizeof *marks +
                 part->n_sites;
    if (n != b->n)
        return false;
    struct dh_program_clones copies = {.functions = functions,
                                       .redirects = redirects,
                                       .marks = marks,
                                       .n = part->n_copies,
                                       .n_redirects = part->n_redirects,
                                       .n_marks = part->n_marks,
                                       .n_functions = part->n_functions,
                                       .size = part->size,
                                       .added = part->added};
    *proofs = (struct dh_sparse_proofs){.of_site = (const uint8_t *)(marks + part->n_marks),
                                        .n_sites = part->n_sites,
                                        .accesses = part->accesses,
                                        .race = part->race,
                                        .private = part->private,
                                        .consistent = part->consistent,
                                        .gave_up = part->gave_up,
                                        .copies = copies};
    return true;
}

bool dh_sparse_wanted(const struct dh_plan *plan)
{
    return (plan->degree != DH_DEGREE_ALL || plan->no_arrays) &&
           plan->everywhere & (DH_CLASS_RACE | DH_CLASS_CONSISTENCY);
}

/* Hook classes that a site does not need. */
static unsigned spared(const struct dh_plan *plan, const struct dh_site_table *t, const struct dh_site *s,
                       unsigned safety)
{
    unsigned all = 0;
    if (plan->degree == DH_DEGREE_ALL)
        safety = 0;
    if (safety & DH_PROVEN_RACE_FREE)
        all |= DH_CLASS_RACE;
    if (safety & (DH_PROVEN_PRIVATE | DH_PROVEN_CONSISTENT))
        all |= DH_CLASS_CONSISTENCY;
    if (plan->no_arrays && dh_site_is_element(t, s))
        all |= DH_CLASS_RACE | DH_CLASS_CONSISTENCY;
    return all;
}

/* Only the consistency detector needs activations, unless events are recorded. */
static bool spares_scope(const struct dh_plan *plan, unsigned safety)
{
    unsigned others =
        plan->everywhere & ~(unsigned)(DH_CLASS_RACE | DH_CLASS_ALIVE | DH_CLASS_CONSISTENCY | DH_CLASS_SCOPE);
    unsigned quiet = plan->no_arrays ? DH_PROVEN_SCOPE_NO_ARRAYS : DH_PROVEN_SCOPE;
    return !others && plan->everywhere & DH_CLASS_CONSISTENCY && plan->degree != DH_DEGREE_ALL && safety & quiet;
}

void dh_sparse_apply(const struct dh_sparse_proofs *proofs, const struct dh_site_table *t, struct dh_plan *plan)
{
    uint32_t n = t->n_sites < proofs->n_sites ? t->n_sites : proofs->n_sites;
    if (*proofs->gave_up && !plan->no_arrays)
        return;
    uint16_t *bits = dh_xcalloc(t->n_sites, sizeof *bits);
    for (uint32_t i = 0; i < t->n_sites; i++)
        bits[i] = (uint16_t)dh_plan_classes(plan, i);
    for (uint32_t i = 0; i < n; i++) {
        enum dh_group group = dh_op_info(t->sites[i].op)->group;
        bool alive = group == DH_GROUP_ACCESS && bits[i] & DH_CLASS_RACE && plan->degree != DH_DEGREE_ALL &&
                     proofs->of_site[i] & DH_PROVEN_ORDERED;
        if (group == DH_GROUP_ACCESS || group == DH_GROUP_MEMORY)
            bits[i] &= (uint16_t)~spared(plan, t, &t->sites[i], proofs->of_site[i]);
        if (group == DH_GROUP_FUNCTION && spares_scope(plan, proofs->of_site[i]))
            bits[i] &= (uint16_t)~DH_CLASS_SCOPE;
        if (alive && bits[i] & DH_CLASS_RACE)
            bits[i] = (uint16_t)((bits[i] & ~DH_CLASS_RACE) | DH_CLASS_ALIVE);
    }
    free((void *)plan->bits);
    plan->bits = bits;
    plan->n_bits = t->n_sites;
    plan->proven = true;
}

void dh_sparse_apply_clones(const struct dh_sparse_proofs *proofs, const struct dh_plan *plan, LLVMModuleRef m)
{
    if (plan->proven && plan->degree == DH_DEGREE_OPTIMIZED && !plan->no_copies && !plan->heal)
        dh_clones_apply(m, &proofs->copies, proofs->n_sites);
}
