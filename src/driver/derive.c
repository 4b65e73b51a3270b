#include "driver/derive.h"

#include "base/str.h"
#include "driver/libraries.h"
#include "driver/merge.h"
#include "driver/policy_plan.h"
#include "driver/site_selection.h"
#include "driver/sparse.h"
#include "driver/variant.h"
#include "host/activity.h"
#include "host/cache.h"
#include "host/deadline.h"
#include "host/resources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct deriving {
    const char *program, *plan_name;
    struct dh_container *container;
    struct dh_plan plan;
    char *folder; /* work */
    char *output;
    char *front; /* folder that keeps the instrumented module until code was generated */
};

/* In their order: interned so, each gets the offset that it has. */
static void add_strings(struct dh_site_builder *b, const struct dh_site_table *t)
{
    for (uint64_t at = 0; at < t->n_strings; at += strlen(dh_site_string(t, (uint32_t)at)) + 1)
        dh_site_builder_string(b, dh_site_string(t, (uint32_t)at));
}

/* The site table is rebuilt into a builder, because placing late may add chains to it. */
struct dh_site_builder *dh_site_builder_of_table(const struct dh_site_table *t)
{
    struct dh_site_builder *b = dh_site_builder_new();
    add_strings(b, t);
    for (uint32_t i = 0; i < t->n_chains; i++) {
        struct dh_chain c = t->chains[i];
        c.file = dh_site_builder_string(b, dh_site_string(t, t->chains[i].file));
        c.function = dh_site_builder_string(b, dh_site_string(t, t->chains[i].function));
        dh_site_builder_chain(b, &c);
    }
    for (uint32_t i = 0; i < t->n_sites; i++) {
        struct dh_site s = t->sites[i];
        uint32_t *strings[] = {&s.file, &s.function, &s.type,   &s.variable, &s.field,
                               &s.expr, &s.name,     &s.callee, &s.source,   &s.source_type};
        for (size_t k = 0; k < sizeof strings / sizeof *strings; k++)
            *strings[k] = dh_site_builder_string(b, dh_site_string(t, *strings[k]));
        dh_site_builder_add(b, &s);
    }
    return b;
}

static bool load(struct deriving *d, struct dh_variant *v, struct dh_err *err)
{
    struct dh_bytes sites, module;
    struct dh_site_table table;
    const char *why;
    if (!dh_container_read(d->container, DH_PART_SITES, &sites, err) ||
        !dh_container_read(d->container, DH_PART_MODULE, &module, err))
        return false;
    if (!dh_site_table_read(&table, sites.at, sites.n, &why))
        return dh_err_set(err, "%s; build the program again", why);
    v->sites = dh_site_builder_of_table(&table);
    v->module = dh_parse_bitcode(dh_context_new(), "embedded module", module.at, module.n, err);
    dh_bytes_release(&module);
    if (!v->module)
        return false;
    LLVMSetIsNewDbgInfoFormat(v->module, 0);
    return true;
}

/* The embedded proofs, or those of an analysis now: a program built to be checked fully has none, and the analysis at
 * the link may have given up early. */
static struct dh_bytes find_proofs(const struct deriving *d, const struct dh_variant *v, const struct dh_site_table *t)
{
    struct dh_bytes part = {0};
    struct dh_err ignored = {0};
    struct dh_sparse_proofs proofs;
    bool there = dh_container_find(d->container, DH_PART_SAFE) &&
                 dh_container_read(d->container, DH_PART_SAFE, &part, &ignored) && dh_sparse_read(&part, &proofs);
    dh_err_release(&ignored);
    if (there && !(d->plan.degree_given && *proofs.gave_up))
        return part;
    dh_bytes_release(&part);
    return dh_sparse_analyse(v->module, t, 0, d->plan.degree_given);
}

static void make_sparse(struct deriving *d, const struct dh_variant *v)
{
    struct dh_site_table t = dh_site_builder_view(v->sites);
    struct dh_sparse_proofs proofs;
    if (!d->plan.degree_given)
        d->plan.degree = v->recipe->degree;
    d->plan.no_arrays |= v->recipe->no_arrays;
    d->plan.no_copies |= v->recipe->no_copies;
    if (!dh_sparse_wanted(&d->plan) || v->recipe->output == DH_LINK_SHARED)
        return;
    struct dh_bytes part = find_proofs(d, v, &t);
    if (dh_sparse_read(&part, &proofs)) {
        dh_sparse_apply(&proofs, &t, &d->plan);
        dh_sparse_apply_clones(&proofs, &d->plan, v->module);
    }
    dh_bytes_release(&part);
}

/* ---- the front half, kept ---- */

static bool read_front(const struct deriving *d, struct dh_variant *v, struct dh_bytes *places)
{
    struct dh_err ignored = {0};
    struct dh_bytes module = {0};
    char *modules = dh_format("%s/module.bc", d->front), *tables = dh_format("%s/places", d->front);
    bool ok = dh_file_exists(tables) && dh_file_read(modules, &module, &ignored) &&
              dh_file_read(tables, places, &ignored) &&
              (v->module = dh_parse_bitcode(dh_context_new(), "kept module", module.at, module.n, &ignored));
    dh_bytes_release(&module);
    dh_err_release(&ignored);
    free(modules);
    free(tables);
    v->is_large = true;
    v->is_quick = (d->plan.everywhere & DH_CLASS_ENGINE) && v->recipe->level != '0';
    return ok;
}

/* The table of places is written last: with it, the folder is complete. */
static void keep_front(const struct deriving *d, const struct dh_variant *v, const struct dh_bytes *places)
{
    struct dh_err ignored = {0};
    char *modules = dh_format("%s/module.bc", d->front), *tables = dh_format("%s/places", d->front);
    LLVMMemoryBufferRef m = LLVMWriteBitcodeToMemoryBuffer(v->module);
    (void)(dh_mkdir_parents(d->front, 0700, &ignored) &&
           dh_file_write(modules, LLVMGetBufferStart(m), LLVMGetBufferSize(m), 0600, &ignored) &&
           dh_file_write(tables, places->at, places->n, 0600, &ignored));
    LLVMDisposeMemoryBuffer(m);
    dh_err_release(&ignored);
    free(modules);
    free(tables);
}

static bool instrument(struct deriving *d, struct dh_variant *v, struct dh_bytes *places, struct dh_err *err)
{
    if (!load(d, v, err))
        return false;
    struct dh_site_table sites = dh_site_builder_view(v->sites);
    if (!dh_selection_apply(d->plan_name, &sites, &d->plan, err) ||
        !dh_policy_place(d->plan_name, &sites, &d->plan, err))
        return false;
    dh_policy_find_shared(&d->plan, d->program);
    make_sparse(d, v);
    if (!dh_variant_instrument(v, places, err))
        return false;
    if (!v->is_large || d->plan.tally)
        return true;
    /* Read again, so that its parts are the same, byte by byte, as when it goes on after an interruption. */
    struct dh_variant kept = *v;
    struct dh_bytes again = {0};
    keep_front(d, v, places);
    if (read_front(d, &kept, &again)) {
        LLVMDisposeModule(v->module);
        *v = kept;
    }
    dh_bytes_release(&again);
    return true;
}

static bool read_recipe(const struct deriving *d, struct dh_link_recipe *recipe, struct dh_err *err)
{
    struct dh_bytes link;
    return dh_container_read(d->container, DH_PART_LINK, &link, err) &&
           dh_link_recipe_read(recipe, link.at, link.n, err);
}

static struct dh_container_writer *copy_container(struct deriving *d, const struct dh_bytes *places, struct dh_err *err)
{
    struct dh_container_writer *w = dh_container_writer_new(d->plan_name);
    bool ok =
        dh_container_copy(w, d->container, DH_PART_SITES, err) &&
        dh_container_copy(w, d->container, DH_PART_UNITS, err) &&
        (!dh_container_find(d->container, DH_PART_SCOPES) || dh_container_copy(w, d->container, DH_PART_SCOPES, err)) &&
        dh_container_add(w, DH_PART_PLACES, places->at, places->n, err);
    return ok ? w : NULL;
}

static bool build(struct deriving *d, struct dh_err *err)
{
    struct dh_link_recipe recipe;
    char *real = dh_path_real(d->program);
    char *origin = dh_format("%.*s", (int)(dh_basename(real ? real : d->program) - (real ? real : d->program)),
                             real ? real : d->program);
    struct dh_variant v = {.recipe = &recipe,
                           .plan = &d->plan,
                           .name = d->plan_name,
                           .id = d->container->id,
                           .folder = d->folder,
                           .origin = origin,
                           .output = d->output};
    struct dh_argv objects = {0};
    struct dh_bytes places = {0};
    dh_activity_say("deriving the variant '%s': reading the program", d->plan_name);
    if (!read_recipe(d, &recipe, err) || (!read_front(d, &v, &places) && !instrument(d, &v, &places, err)) ||
        !dh_variant_generate(&v, &objects, err))
        return false;
    struct dh_container_writer *w = copy_container(d, &places, err);
    if (!w)
        return false;
    struct dh_bytes section = dh_container_finish(w, &d->container->id);
    v.container = &section;
    dh_activity_say("deriving the variant '%s': linking", d->plan_name);
    return dh_variant_link(&v, &objects, err);
}

static bool build_in_child(void *arg, struct dh_err *err)
{
    struct deriving *d = arg;
    return build(d, err) || dh_err_while(err, "deriving the variant '%s' of %s", d->plan_name, d->program);
}

/* Hash of all that the variant depends on: program, plan, and the tool with its runtime. */
static bool cache_key(const struct deriving *d, char text[33], struct dh_err *err)
{
    static const char *const parts[] = {"deadheat_rt.o", "deadheat_dso.o", "deadheat_heal.o", "inline.bc",
                                        "exports.list"};
    struct dh_str key = {0};
    struct dh_bytes b;
    char *self = dh_resource_self(err);
    bool ok = self && dh_file_read(self, &b, err);
    free(self);
    for (size_t i = 0; ok && i <= sizeof parts / sizeof *parts; i++) {
        struct dh_id h = dh_content_hash(b.at, b.n);
        dh_str_add_n(&key, (const char *)h.bytes, sizeof h.bytes);
        dh_bytes_release(&b);
        if (i == sizeof parts / sizeof *parts)
            break;
        char *path = dh_resource_find(parts[i], err);
        ok = path && dh_file_read(path, &b, err);
        free(path);
    }
    char *real = dh_path_real(d->program);
    dh_str_add_n(&key, (const char *)d->container->id.bytes, sizeof d->container->id.bytes);
    dh_str_addf(&key, "%s\n%s", d->plan_name, real ? real : d->program);
    free(real);
    struct dh_id id = dh_content_hash(key.at, key.n);
    dh_id_text(&id, text);
    dh_str_release(&key);
    return ok;
}

/* <cache>/<program id>-<plan>-<key>/<name of the program> */
static char *cached_path(const struct deriving *d, const char *cache, const char *key)
{
    char id[33];
    dh_id_text(&d->container->id, id);
    return dh_format("%s/%s-%s-%.16s", cache, id, d->plan_name, key);
}

static bool make(struct deriving *d, const char *entry, struct dh_err *err)
{
    char *made = dh_format("%s.new-%d", entry, (int)getpid());
    char *output = d->output;
    d->output = dh_format("%s/%s", made, dh_basename(d->program));
    d->folder = dh_temp_folder(err);
    bool ok =
        d->folder && dh_mkdir_parents(made, 0700, err) && dh_child_run("deriving the variant", build_in_child, d, err);
    /* Another process may have made the same entry meanwhile: either is good. */
    ok = ok && (rename(made, entry) == 0 || dh_file_exists(output) || dh_err_errno(err, "cannot write %s", entry));
    dh_remove_tree(made);
    if (d->folder)
        dh_remove_tree(d->folder);
    free(d->folder);
    free(d->output);
    d->output = output;
    free(made);
    return ok;
}

/* ---- one process at a time ---- */

/* -1: time was over, or there can be none. */
static int lock(const char *path, struct dh_err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        dh_err_errno(err, "cannot write %s", path);
        return -1;
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break; /* a file system without locks: both derive it, which is only slower */
        if (dh_deadline_over()) {
            dh_err_late(err, "the process that derives the same variant");
            close(fd);
            return -1;
        }
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    return fd;
}

/* Another process, such as the one that check starts in the background, may derive it just now: it is waited for. */
static bool make_once(struct deriving *d, const char *cache, const char *entry, const char *key, struct dh_err *err)
{
    char *path = dh_format("%s/lock-%.16s", cache, key);
    d->front = dh_format("%s/front-%.16s", cache, key);
    int fd = lock(path, err);
    bool ok = fd >= 0 && (dh_file_exists(d->output) || make(d, entry, err));
    if (ok)
        dh_remove_tree(d->front);
    if (fd >= 0) {
        unlink(path); /* a process that waits for it sees whether the variant is there */
        close(fd);
    }
    if (err->is_late)
        dh_err_set(err,
                   "there was no time to derive the variant '%s' of %s; what is made of it is kept, and the next call "
                   "goes on there",
                   d->plan_name, d->program);
    dh_activity_end();
    free(d->front);
    free(path);
    return ok;
}

static char *derive(struct deriving *d, struct dh_err *err)
{
    char key[33];
    char *cache = dh_cache_folder(err);
    if (!cache || !cache_key(d, key, err)) {
        free(cache);
        return NULL;
    }
    char *entry = cached_path(d, cache, key);
    d->output = dh_format("%s/%s", entry, dh_basename(d->program));
    bool ok = true;
    if (dh_file_exists(d->output))
        utimensat(AT_FDCWD, entry, NULL, 0); /* used now */
    else {
        ok = make_once(d, cache, entry, key, err);
        dh_cache_trim(cache, entry);
    }
    free(entry);
    free(cache);
    if (ok)
        return d->output;
    free(d->output);
    return NULL;
}

char *dh_variant_derive(const char *program, const char *plan, struct dh_err *err)
{
    struct dh_container c;
    struct deriving d = {.program = program, .plan_name = plan, .container = &c};
    if (!dh_plan_parse(plan, &d.plan, err) || !dh_container_open(&c, program, err))
        return NULL;
    char *path = strcmp(c.variant, plan) == 0 ? dh_strdup(program) : derive(&d, err);
    dh_container_release(&c);
    return path;
}

static bool is_there(struct deriving *d)
{
    char key[33];
    struct dh_err ignored = {0};
    char *cache = dh_cache_folder(&ignored);
    char *entry = cache && cache_key(d, key, &ignored) ? cached_path(d, cache, key) : NULL;
    bool there = strcmp(d->container->variant, d->plan_name) == 0 || (entry && dh_file_exists(entry));
    dh_err_release(&ignored);
    free(entry);
    free(cache);
    return there;
}

uint64_t dh_variant_estimate_ns(const char *program, const char *plan)
{
    enum { NS_PER_SITE = 1500000 }; /* measured on programs of 50,000 sites, one processor */
    struct dh_container c;
    struct deriving d = {.program = program, .plan_name = plan, .container = &c};
    struct dh_err ignored = {0};
    struct dh_bytes sites = {0};
    struct dh_site_table table;
    const char *why;
    uint64_t ns = 0;
    if (dh_container_open(&c, program, &ignored)) {
        if (!is_there(&d) && dh_container_read(&c, DH_PART_SITES, &sites, &ignored) &&
            dh_site_table_read(&table, sites.at, sites.n, &why))
            ns = (uint64_t)table.n_sites * NS_PER_SITE / (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
        dh_bytes_release(&sites);
        dh_container_release(&c);
    }
    dh_err_release(&ignored);
    return ns;
}

void dh_variants_each_cached(const struct dh_id *id,
                             void (*fn)(void *arg, const char *plan, const char *path, long long bytes), void *arg)
{
    char text[33];
    struct dh_err ignored = {0};
    char *cache = dh_cache_folder(&ignored);
    DIR *d = cache ? opendir(cache) : NULL;
    dh_id_text(id, text);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, text, 32) != 0 || e->d_name[32] != '-' || strstr(e->d_name, ".new-"))
            continue;
        const char *plan = e->d_name + 33, *dash = strrchr(plan, '-');
        char *name = dh_format("%.*s", dash ? (int)(dash - plan) : 0, plan);
        char *folder = dh_format("%s/%s", cache, e->d_name);
        DIR *inner = opendir(folder);
        for (struct dirent *f; inner && (f = readdir(inner));) {
            char *path = dh_format("%s/%s", folder, f->d_name);
            struct stat s;
            if (stat(path, &s) == 0 && S_ISREG(s.st_mode))
                fn(arg, name, path, s.st_size);
            free(path);
        }
        if (inner)
            closedir(inner);
        free(folder);
        free(name);
    }
    if (d)
        closedir(d);
    free(cache);
    dh_err_release(&ignored);
}
