#include "driver/libraries.h"

#include "base/names.h"
#include "base/str.h"
#include "base/vec.h"
#include "driver/opened_libraries.h"
#include "host/library_path.h"
#include "image/container.h"
#include "image/elf_image.h"

#include <stdlib.h>
#include <string.h>

/* ld.so's default folders; its cache holds the same ones. */
static const char *const standard_folders[] = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"};

struct walk {
    DH_VEC(char *) queue; /* files whose DT_NEEDED entries follow */
    struct dh_names seen;
    void (*fn)(void *, const char *, const char *, bool);
    void *arg;
};

struct dynamic {
    DH_VEC(char *) needed;
    char *run_path;
};

static void note_dynamic(void *arg, int64_t tag, const char *text)
{
    struct dynamic *d = arg;
    if (tag == DT_NEEDED)
        dh_vec_push(&d->needed, dh_strdup(text));
    else if ((tag == DT_RUNPATH || tag == DT_RPATH) && !d->run_path)
        d->run_path = dh_strdup(text);
}

/* One folder of a path list, $ORIGIN replaced. */
static char *try_folder(const char *folder, size_t n, const char *origin, const char *name)
{
    char *path = dh_format("%.*s/%s", (int)n, folder, name);
    if (dh_starts_with(path, "$ORIGIN")) {
        char *there = dh_format("%s%s", origin, path + strlen("$ORIGIN"));
        free(path);
        path = there;
    }
    if (n && dh_file_exists(path))
        return path;
    free(path);
    return NULL;
}

static char *try_list(const char *list, const char *origin, const char *name)
{
    for (const char *at = list; at && *at;) {
        size_t n = strcspn(at, ":");
        char *path = try_folder(at, n, origin, name);
        if (path)
            return path;
        at += n + (at[n] == ':');
    }
    return NULL;
}

static char *locate(const char *name, const char *run_path, const char *origin)
{
    if (strchr(name, '/'))
        return dh_file_exists(name) ? dh_strdup(name) : NULL;
    char *path = try_list(dh_library_path_of_user(), origin, name);
    if (!path)
        path = try_list(run_path, origin, name);
    for (size_t i = 0; !path && i < sizeof standard_folders / sizeof *standard_folders; i++)
        path = try_folder(standard_folders[i], strlen(standard_folders[i]), origin, name);
    return path;
}

/* A damaged library must not pass for one that is not instrumented. */
static bool is_instrumented(const char *path, bool *ours, struct dh_err *err)
{
    struct dh_container c;
    *ours = path && dh_container_present(path);
    if (!*ours)
        return true;
    bool ok = dh_container_open(&c, path, err);
    if (ok)
        dh_container_release(&c);
    return ok;
}

static bool visit(struct walk *w, const char *name, const char *run_path, const char *origin, struct dh_err *err)
{
    if (dh_names_has(&w->seen, name))
        return true;
    dh_names_add(&w->seen, name);
    char *path = locate(name, run_path, origin);
    bool ours, ok = is_instrumented(path, &ours, err);
    if (ok)
        w->fn(w->arg, name, path, ours);
    if (path)
        dh_vec_push(&w->queue, path);
    return ok;
}

static bool expand(struct walk *w, const char *file, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_elf e;
    struct dynamic d = {0};
    if (!dh_file_read(file, &b, err))
        return false;
    bool ok = dh_elf_open(&e, file, b.at, b.n, err);
    if (ok) {
        dh_elf_each_dynamic(&e, note_dynamic, &d);
        dh_elf_release(&e);
    }
    char *origin = dh_format("%.*s.", (int)(dh_basename(file) - file), file);
    for (size_t i = 0; i < d.needed.n; i++) {
        ok = ok && visit(w, d.needed.at[i], d.run_path, origin, err);
        free(d.needed.at[i]);
    }
    free(origin);
    free(d.run_path);
    dh_vec_release(&d.needed);
    dh_bytes_release(&b);
    return ok;
}

/* One that is damaged now is not loaded by the next run. */
static void note_opened(void *walk, const char *path)
{
    struct dh_err ignored = {0};
    visit(walk, path, NULL, ".", &ignored);
    dh_err_release(&ignored);
}

bool dh_libraries_each(const char *program,
                       void (*fn)(void *arg, const char *name, const char *path, bool instrumented), void *arg,
                       struct dh_err *err)
{
    struct walk w = {.fn = fn, .arg = arg};
    bool ok = expand(&w, program, err);
    size_t done = 0;
    for (; ok && done < w.queue.n; done++)
        ok = expand(&w, w.queue.at[done], err);
    if (ok)
        dh_opened_libraries_each(program, note_opened, &w);
    for (; ok && done < w.queue.n; done++)
        ok = expand(&w, w.queue.at[done], err);
    for (size_t i = 0; i < w.queue.n; i++)
        free(w.queue.at[i]);
    dh_vec_release(&w.queue);
    dh_names_release(&w.seen);
    return ok;
}

struct each_sites {
    void (*fn)(void *arg, const struct dh_site_table *sites);
    void *arg;
};

static void sites_of(const struct each_sites *e, const char *path)
{
    struct dh_container container;
    struct dh_bytes sites;
    struct dh_site_table t;
    struct dh_err ignored = {0};
    const char *why;
    if (dh_container_open(&container, path, &ignored)) {
        if (dh_container_read(&container, DH_PART_SITES, &sites, &ignored)) {
            if (dh_site_table_read(&t, sites.at, sites.n, &why))
                e->fn(e->arg, &t);
            dh_bytes_release(&sites);
        }
        dh_container_release(&container);
    }
    dh_err_release(&ignored);
}

static void sites_of_library(void *arg, const char *name, const char *path, bool instrumented)
{
    (void)name;
    if (instrumented)
        sites_of(arg, path);
}

bool dh_site_tables_each(const char *program, void (*fn)(void *arg, const struct dh_site_table *sites), void *arg,
                         struct dh_err *err)
{
    struct each_sites e = {fn, arg};
    sites_of(&e, program);
    return dh_libraries_each(program, sites_of_library, &e, err);
}
