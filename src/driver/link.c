#include "driver/link.h"

#include "base/str.h"
#include "driver/arguments.h"
#include "driver/link_inputs.h"
#include "driver/link_line.h"
#include "driver/merge.h"
#include "driver/passes.h"
#include "driver/policy_plan.h"
#include "driver/site_selection.h"
#include "driver/sparse.h"
#include "driver/variant.h"
#include "host/resources.h"
#include "image/elf_image.h"
#include "ir/byval_copies.h"
#include "ir/critical_sections.h"
#include "ir/sites.h"
#include "ir/thread_entries.h"

#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct linking {
    struct dh_link_line line;
    struct dh_link_inputs inputs;
    struct dh_str trace;
    struct dh_bytes native; /* the natively linked file */
    char *folder;
    bool answered;
};

/* The user's command line with another output; lld, unlike GNU ld, refuses version scripts that name missing symbols
 * unless --undefined-version allows it. */
static bool native_command(const struct linking *k, const char *output, bool trace, struct dh_argv *out,
                           struct dh_err *err)
{
    char *lld = dh_tool_lld(err);
    if (!lld)
        return false;
    dh_argv_add(out, lld);
    free(lld);
    dh_argv_add(out, "--undefined-version");
    if (trace) {
        dh_argv_add(out, "--trace");
        dh_argv_add(out, "--no-mmap-output-file"); /* a full disk ends in a message, not in a bus error */
    }
    for (size_t i = 0; i < k->line.words.n; i++)
        dh_link_word_write(&k->line.words.at[i], out);
    char *stubs = dh_resource_find("libdeadheat_stubs.a", err);
    if (!stubs)
        return false;
    if (k->line.kind != DH_LINK_RELOCATABLE)
        dh_argv_add(out, stubs); /* last: the program's own definitions win */
    free(stubs);
    dh_argv_add(out, "-o");
    dh_argv_add(out, output);
    return true;
}

static int link_natively(struct linking *k, struct dh_err *err)
{
    struct dh_argv a = {0};
    int status = -1;
    bool ok = native_command(k, k->line.output, false, &a, err) && dh_process_run(&a, NULL, &status, err);
    dh_argv_release(&a);
    return ok ? dh_status_code(status) : -1;
}

/* The output is at least as large as the objects. */
static bool has_room(const struct linking *k, struct dh_err *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < k->line.words.n; i++)
        if (k->line.words.at[i].kind == DH_LINK_WORD_FILE && dh_ends_with(k->line.words.at[i].text, ".o"))
            bytes += dh_file_size(k->line.words.at[i].text);
    return dh_disk_has_room(k->folder, bytes, "linking", err) ||
           dh_err_while(err, "linking %s; TMPDIR names another place", k->line.output);
}

/* Links natively into the folder, with --trace. */
static int link_for_trace(struct linking *k, struct dh_err *err)
{
    struct dh_argv a = {0};
    int status = -1;
    char *path = dh_format("%s/native", k->folder);
    bool ok = has_room(k, err) && native_command(k, path, true, &a, err) && dh_process_run(&a, &k->trace, &status, err);
    if (ok && k->line.traces && k->trace.n)
        fputs(k->trace.at, stdout);
    /* Questions to the linker (--version, --help) end well and link nothing. */
    k->answered = ok && status == 0 && !dh_file_exists(path);
    if (k->answered)
        fputs(k->trace.at ? k->trace.at : "", stdout);
    else
        ok = ok && (status != 0 || dh_file_read(path, &k->native, err));
    free(path);
    dh_argv_release(&a);
    return ok ? dh_status_code(status) : -1;
}

static void keep_symbol(void *arg, const struct dh_elf_symbol *s)
{
    if (s->global)
        dh_names_add(arg, s->name);
}

static void keep_exported(void *arg, const struct dh_elf_symbol *s)
{
    if (s->defined)
        dh_names_add(arg, s->name);
}

static void each_symbol(const char *name, const struct dh_bytes *b, bool dynamic,
                        void (*fn)(void *, const struct dh_elf_symbol *), void *arg)
{
    struct dh_elf e;
    struct dh_err ignored = {0};
    if (dh_elf_open(&e, name, b->at, b->n, &ignored)) {
        dh_elf_each_symbol(&e, dynamic, fn, arg);
        dh_elf_release(&e);
    }
    dh_err_release(&ignored);
}

/* Symbols that code outside the merged module uses or defines, and those that linker options name. */
static void collect_kept(const struct linking *k, struct dh_names *keep)
{
    dh_names_add(keep, "main");
    dh_names_add(keep, "_start");
    for (int i = 0; i < k->line.kept_symbols.n; i++)
        dh_names_add(keep, k->line.kept_symbols.at[i]);
    for (int i = 0; i < k->line.wrapped.n; i++) {
        char *wrap = dh_format("__wrap_%s", k->line.wrapped.at[i]);
        dh_names_add(keep, k->line.wrapped.at[i]);
        dh_names_add(keep, wrap);
        free(wrap);
    }
    for (size_t i = 0; i < k->inputs.objects.n; i++) {
        const struct dh_link_input *in = &k->inputs.objects.at[i];
        if (!in->level)
            each_symbol(in->name, &in->bytes, false, keep_symbol, keep);
    }
    each_symbol("native link", &k->native, true, keep_exported, keep);
}

/* A word whose inputs were all merged is dropped; others are kept by path or embedded. */
static void add_word_inputs(const struct linking *k, size_t word, struct dh_link_recipe *r, bool *merged_placed)
{
    for (size_t i = 0; i < k->inputs.objects.n; i++) {
        const struct dh_link_input *in = &k->inputs.objects.at[i];
        if (in->word != word)
            continue;
        if (in->level && !*merged_placed) {
            dh_link_recipe_add(r, DH_RECIPE_MERGED, "", NULL, NULL, 0);
            *merged_placed = true;
        }
        if (!in->level && !in->system)
            dh_link_recipe_add(r, in->lazy ? DH_RECIPE_LAZY_OBJECT : DH_RECIPE_OBJECT, dh_basename(in->name), NULL,
                               in->bytes.at, in->bytes.n);
    }
}

/* Whether the word stays on the linker's command line. */
static bool is_kept_word(const struct linking *k, size_t word)
{
    bool seen = false, system = false;
    for (size_t i = 0; i < k->inputs.objects.n; i++)
        if (k->inputs.objects.at[i].word == word) {
            seen = true;
            system = system || k->inputs.objects.at[i].system;
        }
    return !seen || system;
}

static bool is_unused_archive(const struct linking *k, const struct dh_link_word *w)
{
    char *path = w->kind == DH_LINK_WORD_FILE ? dh_strdup(w->text) : dh_link_line_find_library(&k->line, w);
    bool unused =
        path && dh_ends_with(path, ".a") && !dh_starts_with(path, "/usr/lib") && !dh_starts_with(path, "/lib");
    free(path);
    return unused;
}

static bool add_read_file(const struct dh_link_word *w, struct dh_link_recipe *r, struct dh_err *err)
{
    struct dh_bytes b;
    if (!dh_file_read(w->text, &b, err))
        return false;
    dh_link_recipe_add(r, DH_RECIPE_FILE_OPTION, dh_basename(w->text), w->option, b.at, b.n);
    dh_bytes_release(&b);
    return true;
}

static bool add_word(const struct linking *k, size_t i, struct dh_link_recipe *r, bool *merged_placed,
                     struct dh_err *err)
{
    const struct dh_link_word *w = &k->line.words.at[i];
    char *path;
    switch (w->kind) {
    case DH_LINK_WORD_OPTION:
        dh_link_recipe_add(r, DH_RECIPE_OPTION, w->text, NULL, NULL, 0);
        return true;
    case DH_LINK_WORD_SEARCH_PATH:
        path = w->text[0] == '=' ? dh_strdup(w->text) : dh_path_absolute(w->text);
        dh_link_recipe_add(r, DH_RECIPE_SEARCH_PATH, path, NULL, NULL, 0);
        free(path);
        return true;
    case DH_LINK_WORD_FILE_OPTION:
        return add_read_file(w, r, err);
    case DH_LINK_WORD_FILE:
    case DH_LINK_WORD_LIBRARY:
        add_word_inputs(k, i, r, merged_placed);
        if (!is_kept_word(k, i) || is_unused_archive(k, w))
            return true;
        path = w->kind == DH_LINK_WORD_FILE ? dh_path_absolute(w->text) : dh_strdup(w->text);
        dh_link_recipe_add(r, w->kind == DH_LINK_WORD_FILE ? DH_RECIPE_PATH : DH_RECIPE_LIBRARY, path, NULL, NULL, 0);
        free(path);
        return true;
    }
    return true;
}

static bool make_recipe(const struct linking *k, const struct dh_merged *m, struct dh_link_recipe *r,
                        struct dh_err *err)
{
    *r = (struct dh_link_recipe){.output = k->line.kind, .level = m->level};
    bool merged_placed = false, ok = true;
    for (size_t i = 0; ok && i < k->line.words.n; i++)
        ok = add_word(k, i, r, &merged_placed, err);
    return ok;
}

static bool has_attribute(LLVMModuleRef m, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind))
            return true;
    return false;
}

static void note_entries(struct dh_merged *m)
{
    struct dh_names entries = {0};
    dh_ir_thread_entries(m->module, &entries);
    for (uint32_t i = 0; i < entries.of.n; i++)
        dh_str_addf(&m->units, "thread %s\n", entries.of.at[i].key);
    dh_names_release(&entries);
}

/* Numbers the sites and fills the container's lasting parts; the id is what module and sites hash to. */
static bool describe(const struct linking *k, struct dh_merged *m, const struct dh_link_recipe *r,
                     struct dh_site_builder *sites, struct dh_container_writer *w, struct dh_id *id, struct dh_err *err)
{
    dh_ir_materialise_byval_copies(m->module);
    if (!dh_ir_number_sites(m->module, sites, err))
        return dh_err_while(err, "numbering the sites of %s", k->line.output);
    note_entries(m);
    size_t n, n_scopes;
    void *scopes = dh_ir_critical_sections(m->module, sites, &n_scopes);
    void *table = dh_site_builder_write(sites, &n);
    LLVMMemoryBufferRef module = LLVMWriteBitcodeToMemoryBuffer(m->module);
    struct dh_id hashes[2] = {dh_content_hash(LLVMGetBufferStart(module), LLVMGetBufferSize(module)),
                              dh_content_hash(table, n)};
    *id = dh_content_hash(hashes, sizeof hashes);
    struct dh_bytes recipe = dh_link_recipe_write(r);
    bool ok = dh_container_add(w, DH_PART_SITES, table, n, err) &&
              dh_container_add(w, DH_PART_UNITS, m->units.at ? m->units.at : "", m->units.n, err) &&
              dh_container_add(w, DH_PART_SCOPES, scopes, n_scopes, err) &&
              dh_container_add(w, DH_PART_LINK, recipe.at, recipe.n, err) &&
              dh_container_add(w, DH_PART_MODULE, LLVMGetBufferStart(module), LLVMGetBufferSize(module), err);
    dh_bytes_release(&recipe);
    LLVMDisposeMemoryBuffer(module);
    free(table);
    free(scopes);
    return ok;
}

static void warn_mixed(const struct dh_merged *m)
{
    for (const char *at = m->units.at; at && *at;) {
        size_t n = strcspn(at, "\n");
        if (dh_starts_with(at, "mixed "))
            fprintf(stderr, "deadheat: note: %.*s holds code without bitcode beside bitcode: linked uninstrumented\n",
                    (int)(n - 6), at + 6);
        at += n + (at[n] == '\n');
    }
}

/* The plan of a production build, by the policy that the command names; the program must have what that names. */
static char *production_plan(const struct linking *k, const struct dh_site_builder *sites, struct dh_plan *plan,
                             struct dh_err *err)
{
    const char *trace = k->trace.at ? k->trace.at : "";
    struct dh_site_table t = dh_site_builder_view(sites);
    const char *file = getenv(DH_LD_HEAL);
    char *heals = NULL, *name = NULL;
    if (dh_policy_keep(file, &heals, err) &&
        dh_policy_matches_linked(file, &t, trace, k->line.kind == DH_LINK_SHARED, err)) {
        name = dh_format("production@%s", strchr(heals, DH_SELECTION_MARK) + 1);
        if (!dh_plan_parse(name, plan, err) || !dh_policy_place(name, &t, plan, err)) {
            free(name);
            name = NULL;
        } else {
            dh_policy_find_shared_linked(plan, trace);
        }
    }
    free(heals);
    return name;
}

/* The degree of sparse instrumentation of the program and its variants. */
static bool read_degree(struct dh_link_recipe *r, struct dh_err *err)
{
    const char *text = getenv(DH_LD_PLAN);
    struct dh_plan plan = {.degree = DH_DEGREE_OPTIMIZED};
    if (text && !dh_plan_parse(text, &plan, err))
        return false;
    r->degree = plan.degree;
    r->no_arrays = plan.no_arrays;
    r->no_copies = plan.no_copies;
    return true;
}

/* Removes the checks of accesses proven race free; the proofs are embedded in the program. */
static bool make_sparse(const struct dh_variant *v, const struct dh_link_recipe *r, struct dh_plan *plan,
                        struct dh_container_writer *w, struct dh_err *err)
{
    struct dh_site_table t = dh_site_builder_view(v->sites);
    struct dh_sparse_proofs facts;
    plan->degree = r->degree;
    plan->no_arrays = r->no_arrays;
    plan->no_copies = r->no_copies;
    if (!dh_sparse_wanted(plan) || r->output == DH_LINK_SHARED)
        return true;
    struct dh_bytes proofs = dh_sparse_analyse(v->module, &t, 0, getenv(DH_LD_PLAN));
    if (dh_sparse_read(&proofs, &facts)) {
        dh_sparse_apply(&facts, &t, plan);
        dh_sparse_apply_clones(&facts, plan, v->module);
    }
    bool ok = dh_container_add(w, DH_PART_SAFE, proofs.at, proofs.n, err);
    dh_bytes_release(&proofs);
    return ok;
}

static bool is_production(void)
{
    return getenv(DH_LD_HEAL);
}

static bool make_program(struct linking *k, struct dh_merged *m, struct dh_err *err)
{
    struct dh_link_recipe recipe;
    struct dh_names keep = {0};
    struct dh_plan plan = {.everywhere = DH_CLASS_RACE};
    struct dh_site_builder *sites = dh_site_builder_new();
    struct dh_container_writer *writer = dh_container_writer_new(is_production() ? "production" : "race");
    char *production = NULL;
    struct dh_argv objects = {0};
    struct dh_bytes places = {0}, section = {0};
    struct dh_id id = {0};
    bool open = k->line.kind == DH_LINK_SHARED || k->line.export_dynamic;
    collect_kept(k, &keep);
    bool ok = make_recipe(k, m, &recipe, err) && read_degree(&recipe, err) &&
              (open || dh_internalise(m->module, &keep, err)) && dh_passes_promote(m->module, err);
    recipe.asan = ok && has_attribute(m->module, "sanitize_address");
    ok = ok && describe(k, m, &recipe, sites, writer, &id, err);
    struct dh_variant v = {.module = m->module,
                           .sites = sites,
                           .recipe = &recipe,
                           .plan = &plan,
                           .name = "race",
                           .id = id,
                           .folder = k->folder,
                           .output = k->line.output};
    if (ok && is_production()) {
        production = production_plan(k, sites, &plan, err);
        v.name = production;
        ok = production;
    }
    ok = ok && make_sparse(&v, &recipe, &plan, writer, err);
    ok = ok && dh_variant_compile(&v, &objects, &places, err) &&
         dh_container_add(writer, DH_PART_PLACES, places.at, places.n, err);
    section = dh_container_finish(writer, &id);
    v.container = getenv(DH_LD_NO_EMBED) ? NULL : &section;
    ok = ok && dh_variant_link(&v, &objects, err);
    free(production);
    free((void *)plan.bits);
    dh_bytes_release(&section);
    dh_bytes_release(&places);
    dh_argv_release(&objects);
    dh_site_builder_free(sites);
    dh_names_release(&keep);
    dh_link_recipe_release(&recipe);
    return ok;
}

static bool link_instrumented(void *arg, struct dh_err *err)
{
    struct linking *k = arg;
    struct dh_merged m;
    if (!dh_link_inputs_collect(&k->inputs, &k->line, k->trace.at ? k->trace.at : "", &k->native, err) ||
        !dh_merge(&m, &k->inputs, &k->line, err))
        return dh_err_while(err, "linking %s", k->line.output);
    warn_mixed(&m);
    if (m.module)
        return make_program(k, &m, err);
    /* Nothing carries bitcode: the native link is all there is. */
    struct dh_err own = {0};
    int code = link_natively(k, &own);
    return code == 0 || dh_err_set(err, "%s", own.text ? own.text : "the native link failed the second time");
}

/* Links that stay native: configure checks, relocatable output, and questions of clang to its linker. */
static bool stays_native(const struct dh_link_line *l)
{
    /* An output that cannot be written is for the linker to complain about. */
    char *folder = dh_format("%.*s.", (int)(dh_basename(l->output) - l->output), l->output);
    bool writable = access(folder, W_OK) == 0;
    free(folder);
    return !writable || l->kind == DH_LINK_RELOCATABLE || l->asks_only || dh_cc_is_configure_check(l->output) ||
           (dh_file_exists(l->output) && !dh_file_is_regular(l->output));
}

static int link_fully(struct linking *k, struct dh_err *err)
{
    k->folder = dh_temp_folder(err);
    if (!k->folder)
        return -1;
    int code = link_for_trace(k, err);
    if (code == 0 && !k->answered && !dh_child_run("the link step", link_instrumented, k, err))
        code = -1;
    if (getenv("DEADHEAT_KEEP_TEMPS"))
        fprintf(stderr, "deadheat: note: temporary files kept in %s\n", k->folder);
    else
        dh_remove_tree(k->folder);
    return code;
}

int dh_link(int argc, char **argv, struct dh_err *err)
{
    struct linking k = {0};
    int code = -1;
    if (dh_link_line_read(&k.line, argc, argv, err)) {
        const char *level = getenv(DH_LD_LEVEL);
        k.line.level = level && *level ? *level : '2';
        if (stays_native(&k.line))
            code = link_natively(&k, err);
        else if (k.line.is_static)
            dh_err_set(err, "-static: a statically linked program cannot be intercepted; link it dynamically");
        else if (k.line.kind != DH_LINK_SHARED && !k.line.has_libc)
            dh_err_set(err, "-nostdlib: the runtime needs the C library; link with -lc");
        else
            code = link_fully(&k, err);
    }
    dh_link_line_release(&k.line);
    dh_link_inputs_release(&k.inputs);
    dh_str_release(&k.trace);
    dh_bytes_release(&k.native);
    free(k.folder);
    return code;
}
