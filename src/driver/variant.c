#include "driver/variant.h"

#include "base/str.h"
#include "driver/merge.h"
#include "driver/partition.h"
#include "driver/passes.h"
#include "event/heal.h"
#include "host/resources.h"
#include "instrument/counters.h"
#include "instrument/instrument.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* OBJECT_PER_BITCODE: upper bound of an object's size by its bitcode's; clang crashes when the disk is full. */
enum { MOST_PARTS = 8, OBJECT_PER_BITCODE = 4 };

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

static bool is_production(const struct dh_variant *v)
{
    return v->plan->everywhere & DH_CLASS_PRODUCTION && is_executable(v);
}

/* Hooks of activations are placed before inlining, the objects they work on after it. */
static bool instrument_scopes(struct dh_variant *v, struct dh_places *places, struct dh_scope_objects *objects,
                              struct dh_err *err)
{
    struct dh_instrument_counts counts = {0};
    if (!(v->plan->everywhere & DH_CLASS_SCOPE))
        return true;
    return dh_instrument_scopes(v->module, v->plan, places, &counts, objects, err) &&
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
    struct dh_instrument_counts counts = {0};
    bool exact = v->plan->everywhere & DH_CLASSES_EXACT, late = v->plan->everywhere & DH_CLASSES_LATE;
    bool heals = v->plan->everywhere & DH_CLASS_HEAL;
    if (v->plan->heal && !is_executable(v))
        v->plan->heal->is_library = true;
    if (is_counting(v, DH_COUNT_EVENTS))
        dh_count_events(v->module, v->sites);
    if (heals &&
        !(dh_instrument_heal(v->module, v->plan, places, &counts, err) && verify(v->module, "placing what heals", err)))
        return false;
    if (exact && !(dh_instrument_exact(v->module, v->plan, places, &counts, err) &&
                   verify(v->module, "exact instrumentation", err)))
        return false;
    if (late)
        dh_instrument_prepare(v->module);
    if (!dh_passes_simplify(v->module, v->recipe->level, err))
        return false;
    if (objects->variables.n && !dh_instrument_scope_objects(v->module, places, objects, err))
        return false;
    if (late && !(dh_instrument_late(v->module, v->plan, places, &counts, err) &&
                  verify(v->module, "late instrumentation", err)))
        return false;
    if ((exact || heals) && !late &&
        !(dh_instrument_after_inlining(v->module, v->plan, places, &counts, err) && verify(v->module, "settling", err)))
        return false;
    if (is_counting(v, DH_COUNT_CHECKS))
        dh_count_checks(v->module, v->sites);
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
};

static bool run_clang(const struct generating *g, const char *bitcode, struct dh_err *err)
{
    char *clang = dh_tool_clang(err);
    if (!clang)
        return false;
    struct dh_argv a = {0};
    const char level = g->v->recipe->level;
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
    dh_argv_add(&a, g->object);
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

static bool generate_part(void *arg, struct dh_err *err)
{
    struct generating *g = arg;
    LLVMModuleRef m = g->v->module;
    dh_partition_keep(g->partition, m, g->part);
    /* Functions of other parts are removed after inlining the hooks, which no part defines. */
    if (g->partition->n > 1 && !dh_passes_run(m, "always-inline,elim-avail-extern,globaldce", err))
        return dh_err_while(err, "taking part %u of the program", g->part);
    if (!dh_passes_optimise(m, g->v->recipe->level, g->v->recipe->asan, err))
        return false;
    if (is_counting(g->v, DH_COUNT_CHECKS))
        dh_count_slow_paths(m, g->v->sites);
    char *bitcode = dh_format("%s/part%u.bc", g->v->folder, g->part);
    /* Not LLVMWriteBitcodeToFile, which aborts when the disk is full. */
    LLVMMemoryBufferRef bytes = LLVMWriteBitcodeToMemoryBuffer(m);
    size_t n = LLVMGetBufferSize(bytes);
    bool ok = dh_file_write(bitcode, LLVMGetBufferStart(bytes), n, 0600, err) &&
              dh_disk_has_room(g->v->folder, OBJECT_PER_BITCODE * n, "generating code", err) &&
              run_clang(g, bitcode, err);
    LLVMDisposeMemoryBuffer(bytes);
    free(bitcode);
    return ok;
}

static bool generate(struct dh_variant *v, struct dh_argv *objects, struct dh_err *err)
{
    struct dh_partition p;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned most = processors > MOST_PARTS ? MOST_PARTS : processors < 1 ? 1 : (unsigned)processors;
    dh_partition_split(&p, v->module, most);
    struct generating g[MOST_PARTS];
    struct dh_child children[MOST_PARTS];
    unsigned started = 0;
    bool ok = true;
    for (; ok && started < p.n; started += ok) {
        g[started] = (struct generating){
            .v = v, .partition = &p, .part = started, .object = dh_format("%s/part%u.o", v->folder, started)};
        dh_argv_add(objects, g[started].object);
        ok = dh_child_start(&children[started], "code generation", generate_part, &g[started], err);
    }
    for (unsigned i = 0; i < started; i++) {
        struct dh_err own = {0};
        if (!dh_child_finish(&children[i], &own)) {
            if (ok)
                dh_err_set(err, "%s", own.text);
            ok = false;
        }
        dh_err_release(&own);
        free(g[i].object);
    }
    dh_partition_release(&p);
    return ok;
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

bool dh_variant_compile(struct dh_variant *v, struct dh_argv *objects, struct dh_bytes *out, struct dh_err *err)
{
    struct dh_places *places = dh_places_new(v->sites);
    bool ok = instrument(v, places, err);
    if (ok && is_executable(v)) {
        ok = v->recipe->level == '0' || is_production(v) || add_inline_hooks(v, err);
        add_identity(v);
    }
    ok = ok && generate(v, objects, err);
    if (ok)
        *out = write_places(v, places);
    dh_places_free(places);
    return ok || dh_err_while(err, "instrumenting %s", v->output);
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
