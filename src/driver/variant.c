#include "driver/variant.h"

#include "base/str.h"
#include "driver/merge.h"
#include "driver/part_cache.h"
#include "driver/partition.h"
#include "driver/passes.h"
#include "event/heal.h"
#include "host/activity.h"
#include "host/resources.h"
#include "instrument/counters.h"
#include "instrument/instrument.h"
#include "instrument/library_defects.h"
#include "instrument/own_allocator.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* OBJECT_PER_BITCODE: upper bound of an object's size by its bitcode's; clang crashes when the disk is full. */
enum { MOST_PARTS = 32, OBJECT_PER_BITCODE = 4 };
/* LARGE: instructions before hooks are placed; above, the front half of deriving takes seconds. PART: of a part that is
 * kept by itself. */
enum { LARGE = 60000, PART = 240000 };
/* Hooks of a function. */
enum { MOST_INLINED = 100 };

typedef DH_VEC(LLVMValueRef) call_vec;

static void add_constant(LLVMModuleRef m, const char *name, LLVMValueRef value)
{
    LLVMValueRef g = LLVMAddGlobal(m, LLVMTypeOf(value), name);
    LLVMSetInitializer(g, value);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
}

/* Constants by which the runtime knows variant, module id, tool, policy and number of sites. */
static void add_identity(struct dh_variant *v)
{
    LLVMContextRef c = LLVMGetModuleContext(v->module);
    struct dh_site_table t = dh_site_builder_view(v->sites);
    add_constant(v->module, "__dh_variant", LLVMConstStringInContext2(c, v->name, strlen(v->name), 0));
    add_constant(v->module, "__dh_module_id",
                 LLVMConstStringInContext2(c, (const char *)v->id.bytes, sizeof v->id.bytes, 1));
    struct dh_err ignored = {0};
    char *tool = dh_resource_self(&ignored);
    const char *known = tool ? tool : "";
    add_constant(v->module, "__dh_tool", LLVMConstStringInContext2(c, known, strlen(known), 0));
    dh_err_release(&ignored);
    free(tool);
    if (v->plan->heal)
        add_constant(v->module, "__dh_heal_policy",
                     LLVMConstStringInContext2(c, v->plan->heal->text, strlen(v->plan->heal->text), 0));
    add_constant(v->module, "__dh_site_count", LLVMConstInt(LLVMInt32TypeInContext(c), t.n_sites, 0));
}

/* Fast paths of hooks, written in C: linked in as always_inline. Libraries call through their table instead; without
 * optimisation, inlining would only make frames larger. */
static bool add_inline_hooks(struct dh_variant *v, struct dh_err *err)
{
    char *path = dh_resource_find("inline.bc", err);
    struct dh_bytes b;
    if (!path || !dh_file_read(path, &b, err)) {
        free(path);
        return false;
    }
    LLVMModuleRef hooks = dh_parse_bitcode(LLVMGetModuleContext(v->module), path, b.at, b.n, err);
    dh_bytes_release(&b);
    if (!hooks) {
        free(path);
        return false;
    }
    LLVMSetIsNewDbgInfoFormat(hooks, 0);
    LLVMSetTarget(hooks, LLVMGetTarget(v->module));
    LLVMSetDataLayout(hooks, LLVMGetDataLayoutStr(v->module));
    bool failed = LLVMLinkModules2(v->module, hooks);
    if (failed)
        dh_err_set(err, "%s cannot be linked into the program", path);
    free(path);
    return !failed;
}

static bool is_hook(LLVMValueRef callee, unsigned always_inline)
{
    return callee && LLVMIsAFunction(callee) && LLVMGetLinkage(callee) == LLVMAvailableExternallyLinkage &&
           LLVMGetEnumAttributeAtIndex(callee, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, always_inline);
}

static void find_hook_calls(LLVMValueRef f, unsigned always_inline, call_vec *out)
{
    out->n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && is_hook(LLVMGetCalledValue(i), always_inline))
                dh_vec_push(out, i);
}

/* Every inlined hook is some blocks more, and allocating registers takes time with the square of them: in a function
 * with very many accesses, of a variant that was asked for just now, hooks are calls. */
static void limit_inlining(struct dh_variant *v)
{
    unsigned always_inline = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    unsigned no_inline = LLVMGetEnumAttributeKindForName("noinline", 8);
    LLVMAttributeRef kept = LLVMCreateEnumAttribute(LLVMGetModuleContext(v->module), no_inline, 0);
    call_vec calls = {0};
    for (LLVMValueRef f = LLVMGetFirstFunction(v->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage)
            continue;
        find_hook_calls(f, always_inline, &calls);
        for (size_t i = 0; calls.n > MOST_INLINED && i < calls.n; i++)
            LLVMAddCallSiteAttribute(calls.at[i], (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kept);
    }
    dh_vec_release(&calls);
}

static bool verify(LLVMModuleRef m, const char *step, struct dh_err *err)
{
    char *why = NULL;
    bool broken = LLVMVerifyModule(m, LLVMReturnStatusAction, &why);
    if (broken)
        dh_err_set(err, "the module is broken after %s: %.300s", step, why);
    LLVMDisposeMessage(why);
    return !broken;
}

static bool is_executable(const struct dh_variant *v)
{
    return v->recipe->output == DH_LINK_EXECUTABLE || v->recipe->output == DH_LINK_PIE;
}

/* Searching takes more time than the program itself: of a large one, code that is there soon is worth more. */
static void choose_effort(struct dh_variant *v)
{
    bool is_derived = v->origin; /* the first link is not kept in pieces */
    v->is_large = is_derived && dh_partition_instructions(v->module) >= dh_partition_scaled(LARGE);
    if (v->is_large)
        dh_partition_weigh(v->module);
    v->is_quick = v->is_large && (v->plan->everywhere & DH_CLASS_ENGINE) && v->recipe->level != '0';
}

static char level_of(const struct dh_variant *v)
{
    return v->is_quick ? DH_LEVEL_QUICK : v->recipe->level;
}

static bool is_production(const struct dh_variant *v)
{
    return v->plan->everywhere & DH_CLASS_PRODUCTION && is_executable(v);
}

/* Hooks of activations are placed before inlining, the objects they work on after it. */
static bool instrument_scopes(struct dh_variant *v, struct dh_places *places, struct dh_scope_objects *objects,
                              struct dh_err *err)
{
    if (!(v->plan->everywhere & DH_CLASS_SCOPE))
        return true;
    return dh_instrument_scopes(v->module, v->plan, places, objects, err) &&
           verify(v->module, "placing activations", err);
}

/* Libraries count nothing: their hooks are calls through a table. */
static bool is_counting(const struct dh_variant *v, enum dh_count_mode what)
{
    return v->plan->tally == what && is_executable(v);
}

static bool instrument_accesses(struct dh_variant *v, struct dh_places *places, const struct dh_scope_objects *objects,
                                struct dh_err *err)
{
    bool exact = v->plan->everywhere & DH_CLASSES_EXACT, late = v->plan->everywhere & DH_CLASSES_LATE;
    bool heals = v->plan->everywhere & DH_CLASS_HEAL;
    if (v->plan->heal && !is_executable(v))
        v->plan->heal->is_library = true;
    dh_library_defects_mend(v->module);
    if (is_counting(v, DH_COUNT_EVENTS))
        dh_count_events(v->module, v->sites);
    if (heals && !(dh_instrument_heal(v->module, v->plan, places, err) && verify(v->module, "placing what heals", err)))
        return false;
    /* Of a large program that takes long, and it is verified again below. */
    if (exact && !(dh_instrument_exact(v->module, v->plan, places, err) &&
                   (v->is_large || verify(v->module, "exact instrumentation", err))))
        return false;
    if (late)
        dh_instrument_prepare(v->module);
    if (!dh_passes_simplify(v->module, level_of(v), err))
        return false;
    if (objects->variables.n && !dh_instrument_scope_objects(v->module, places, objects, err))
        return false;
    if (late &&
        !(dh_instrument_late(v->module, v->plan, places, err) && verify(v->module, "late instrumentation", err)))
        return false;
    if ((exact || heals) && !late &&
        !(dh_instrument_after_inlining(v->module, v->plan, places, err) && verify(v->module, "settling", err)))
        return false;
    if (is_counting(v, DH_COUNT_CHECKS))
        dh_count_checks(v->module, v->sites);
    if (v->plan->everywhere & DH_CLASS_ENGINE && is_executable(v))
        dh_own_allocator_divert(v->module);
    return dh_passes_coverage(v->module, err);
}

static bool instrument(struct dh_variant *v, struct dh_places *places, struct dh_err *err)
{
    struct dh_scope_objects objects = {0};
    bool ok = instrument_scopes(v, places, &objects, err) && instrument_accesses(v, places, &objects, err);
    dh_scope_objects_release(&objects);
    return ok;
}

struct generating {
    const struct dh_variant *v;
    const struct dh_partition *partition;
    unsigned part;
    char *object;
    LLVMMemoryBufferRef written; /* the bitcode of the part, if nothing is left to be optimised */
};

static bool run_clang(const struct generating *g, const char *bitcode, const char *object, struct dh_err *err)
{
    char *clang = dh_tool_clang(err);
    if (!clang)
        return false;
    struct dh_argv a = {0};
    const char level = g->v->is_quick ? '0' : g->v->recipe->level;
    dh_argv_add(&a, clang);
    free(clang);
    dh_argv_addf(&a, "-O%c", level);
    /* The passes ran already; clang's back end knows .init_array, sections and the rest of the platform. */
    static const char *const fixed[] = {"-x",
                                        "ir",
                                        "-c",
                                        "-Xclang",
                                        "-disable-llvm-passes",
                                        "-fno-crash-diagnostics",
                                        "-Wno-override-module",
                                        "-Qunused-arguments",
                                        "-ffunction-sections",
                                        "-fdata-sections"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        dh_argv_add(&a, fixed[i]);
    dh_argv_add(&a, g->v->recipe->output == DH_LINK_SHARED ? "-fPIC" : "-fPIE");
    dh_argv_add(&a, bitcode);
    dh_argv_add(&a, "-o");
    dh_argv_add(&a, object);
    int status = 0;
    bool ok = dh_process_run(&a, NULL, &status, err);
    if (ok && status != 0) {
        char *words = dh_status_text(status);
        ok = dh_err_set(err, "clang ended with %s, while generating code for %s", words, g->v->output);
        free(words);
    }
    dh_argv_release(&a);
    return ok;
}

/* Without optimisation the part is what it was when it was looked for. */
static LLVMMemoryBufferRef optimised(const struct generating *g, struct dh_err *err)
{
    LLVMModuleRef m = g->v->module;
    if (g->written)
        return LLVMCreateMemoryBufferWithMemoryRangeCopy(LLVMGetBufferStart(g->written), LLVMGetBufferSize(g->written),
                                                         "part");
    if (!dh_passes_optimise(m, level_of(g->v), g->v->recipe->asan, err))
        return NULL;
    if (is_counting(g->v, DH_COUNT_CHECKS))
        dh_count_slow_paths(m, g->v->sites);
    return LLVMWriteBitcodeToMemoryBuffer(m);
}

static bool generate_object(void *arg, const char *object, struct dh_err *err)
{
    const struct generating *g = arg;
    LLVMMemoryBufferRef bytes = optimised(g, err);
    if (!bytes)
        return false;
    char *bitcode = dh_format("%s/part%u.bc", g->v->folder, g->part);
    /* Not LLVMWriteBitcodeToFile, which aborts when the disk is full. */
    size_t n = LLVMGetBufferSize(bytes);
    bool ok = dh_file_write(bitcode, LLVMGetBufferStart(bytes), n, 0600, err) &&
              dh_disk_has_room(g->v->folder, OBJECT_PER_BITCODE * n, "generating code", err) &&
              run_clang(g, bitcode, object, err);
    LLVMDisposeMemoryBuffer(bytes);
    free(bitcode);
    return ok;
}

/* The object of a part of a large program is kept by itself. */
static bool generate_kept(struct generating *g, struct dh_err *err)
{
    char *clang = dh_tool_clang(err);
    if (!clang)
        return false;
    LLVMMemoryBufferRef bytes = LLVMWriteBitcodeToMemoryBuffer(g->v->module);
    g->written = g->v->is_quick && !g->v->recipe->asan ? bytes : NULL;
    char *how = dh_format("%s %c %d %d %d", clang, level_of(g->v), g->v->recipe->asan,
                          g->v->recipe->output == DH_LINK_SHARED, g->v->is_quick);
    struct dh_part_source source = {.bitcode = LLVMGetBufferStart(bytes),
                                    .n = LLVMGetBufferSize(bytes),
                                    .how = how,
                                    .generate = generate_object,
                                    .arg = g};
    bool ok = dh_part_cache_get(&source, g->object, err);
    LLVMDisposeMemoryBuffer(bytes);
    free(how);
    free(clang);
    return ok;
}

static bool generate_part(void *arg, struct dh_err *err)
{
    struct generating *g = arg;
    LLVMModuleRef m = g->v->module;
    dh_partition_keep(g->partition, m, g->part);
    /* Functions of other parts are removed after inlining the hooks, which no part defines. */
    if (g->partition->n > 1 && !dh_passes_run(m, "always-inline,elim-avail-extern,globaldce", err))
        return dh_err_while(err, "taking part %u of the program", g->part);
    bool keeps = g->v->is_large && !g->v->plan->tally;
    return keeps ? generate_kept(g, err) : generate_object(g, g->object, err);
}

static unsigned processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > MOST_PARTS ? MOST_PARTS : n < 1 ? 1 : (unsigned)n;
}

/* Parts that are generated, as many at once as there are processors. */
struct generation {
    struct generating parts[MOST_PARTS];
    struct dh_child children[MOST_PARTS];
    unsigned n, started, ended;
    bool ok;
};

static void start_next(struct generation *all, struct dh_err *err)
{
    unsigned i = all->started;
    all->ok = dh_child_start(&all->children[i], "code generation", generate_part, &all->parts[i], err);
    all->started += all->ok;
}

static void finish_next(struct generation *all, struct dh_err *err)
{
    struct dh_err own = {0};
    if (!dh_child_finish(&all->children[all->ended++], &own)) {
        if (all->ok)
            *err = own;
        else
            dh_err_release(&own);
        all->ok = false;
    }
}

bool dh_variant_generate(struct dh_variant *v, struct dh_argv *objects, struct dh_err *err)
{
    struct dh_partition p;
    struct generation all = {.ok = true};
    unsigned at_once = processors();
    /* Else every pass of every part would convert all of the program, and back. */
    LLVMSetIsNewDbgInfoFormat(v->module, 1);
    dh_partition_split(&p, v->module, at_once, v->is_large ? MOST_PARTS : at_once, PART);
    for (all.n = 0; all.n < p.n; all.n++) {
        struct generating *g = &all.parts[all.n];
        *g = (struct generating){
            .v = v, .partition = &p, .part = all.n, .object = dh_format("%s/part%u.o", v->folder, all.n)};
        dh_argv_add(objects, g->object);
    }
    while (all.ended < all.started || (all.ok && all.started < all.n)) {
        dh_activity_say("deriving the variant '%s': %u of %u parts", v->name, all.ended, all.n);
        while (all.ok && all.started < all.n && all.started - all.ended < at_once)
            start_next(&all, err);
        if (all.ended < all.started)
            finish_next(&all, err);
    }
    for (unsigned i = 0; i < all.n; i++)
        free(all.parts[i].object);
    dh_partition_release(&p);
    return all.ok;
}

/* Part "places": u32 counts of sites, places, chains and bytes of strings, then places, chains and strings. */
static struct dh_bytes write_places(const struct dh_variant *v, const struct dh_places *places)
{
    uint32_t n;
    const struct dh_place *all = dh_places_all(places, &n);
    struct dh_site_table t = dh_site_builder_view(v->sites);
    uint32_t counts[4] = {t.n_sites, n, t.n_chains, t.n_strings};
    struct dh_str out = {0};
    dh_str_add_n(&out, (const char *)counts, sizeof counts);
    dh_str_add_n(&out, (const char *)all, n * sizeof *all);
    dh_str_add_n(&out, (const char *)t.chains, t.n_chains * sizeof *t.chains);
    dh_str_add_n(&out, t.strings, t.n_strings);
    return dh_bytes_take(&out);
}

bool dh_variant_instrument(struct dh_variant *v, struct dh_bytes *out, struct dh_err *err)
{
    struct dh_places *places = dh_places_new(v->sites);
    choose_effort(v);
    dh_activity_say("deriving the variant '%s': placing hooks", v->name);
    bool ok = instrument(v, places, err);
    if (ok && is_executable(v)) {
        ok = v->recipe->level == '0' || v->is_quick || is_production(v) || add_inline_hooks(v, err);
        if (v->origin)
            limit_inlining(v);
        add_identity(v);
    }
    if (ok)
        *out = write_places(v, places);
    dh_places_free(places);
    return ok || dh_err_while(err, "instrumenting %s", v->output);
}

bool dh_variant_compile(struct dh_variant *v, struct dh_argv *objects, struct dh_bytes *places, struct dh_err *err)
{
    return dh_variant_instrument(v, places, err) &&
           (dh_variant_generate(v, objects, err) || dh_err_while(err, "instrumenting %s", v->output));
}

static bool add_runtime(const struct dh_variant *v, struct dh_argv *line, struct dh_err *err)
{
    /* An object, not an archive: --exclude-libs would hide the runtime's exported symbols. */
    char *runtime = dh_resource_find(is_production(v)   ? "deadheat_heal.o"
                                     : is_executable(v) ? "deadheat_rt.o"
                                                        : "deadheat_dso.o",
                                     err);
    if (!runtime)
        return false;
    dh_argv_add(line, runtime);
    free(runtime);
    if (is_production(v)) { /* for libraries that are healed with it */
        dh_argv_add(line, "--export-dynamic-symbol=__dh_runtime_hooks");
        return true;
    }
    if (!is_executable(v)) {
        char *stubs = dh_resource_find("libdeadheat_stubs.a", err);
        if (stubs)
            dh_argv_add(line, stubs);
        free(stubs);
        return stubs;
    }
    char *exports = dh_resource_find("exports.list", err);
    if (!exports)
        return false;
    dh_argv_addf(line, "--export-dynamic-symbol-list=%s", exports);
    free(exports);
    return true;
}

/* All of the objects, debug information included, will be in the output. */
static bool has_room(const struct dh_variant *v, const struct dh_argv *objects, struct dh_err *err)
{
    size_t bytes = 0;
    for (int i = 0; i < objects->n; i++)
        bytes += dh_file_size(objects->at[i]);
    char *folder = dh_format("%.*s.", (int)(dh_basename(v->output) - v->output), v->output);
    bool ok = dh_disk_has_room(folder, bytes, "the program", err);
    free(folder);
    return ok;
}

static bool run_linker(const struct dh_variant *v, const struct dh_argv *objects, const char *temp, struct dh_err *err)
{
    struct dh_argv line = {0}, merged = {0};
    char *lld = dh_tool_lld(err);
    bool ok = lld != NULL;
    if (ok) {
        dh_argv_add(&line, lld);
        dh_argv_add(&line, "--undefined-version");
        dh_argv_add(&line, "--no-mmap-output-file"); /* a full disk ends in a message, not in a bus error */
        dh_argv_add_all(&merged, objects->at, objects->n);
        ok = add_runtime(v, &merged, err) &&
             dh_link_recipe_command(v->recipe, v->folder, &merged, v->origin, &line, err);
        dh_argv_add(&line, "-o");
        dh_argv_add(&line, temp);
    }
    free(lld);
    int status = 0;
    ok = ok && has_room(v, &merged, err) && dh_process_run(&line, NULL, &status, err);
    if (ok && status != 0)
        ok = dh_err_set(err, "the linker refuses the instrumented program");
    dh_argv_release(&line);
    dh_argv_release(&merged);
    return ok;
}

bool dh_variant_link(struct dh_variant *v, const struct dh_argv *objects, struct dh_err *err)
{
    struct dh_argv all = {0};
    dh_argv_add_all(&all, objects->at, objects->n);
    bool ok = true;
    if (v->container) {
        char *path = dh_format("%s/container.o", v->folder);
        ok = dh_container_write_object(path, v->container, err);
        dh_argv_add(&all, path);
        free(path);
    }
    char *temp = dh_format("%s.dh-%d", v->output, (int)getpid());
    ok = ok && run_linker(v, &all, temp, err);
    ok = ok && (rename(temp, v->output) == 0 || dh_err_errno(err, "cannot write %s", v->output));
    if (!ok)
        unlink(temp);
    free(temp);
    dh_argv_release(&all);
    return ok || dh_err_while(err, "linking %s", v->output);
}
