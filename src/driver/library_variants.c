#include "driver/library_variants.h"

#include "base/str.h"
#include "driver/derive.h"
#include "driver/libraries.h"
#include "event/file_identity.h"
#include "host/cache.h"
#include "image/container.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct derived_library {
    char *name, *path; /* the name asked for, and the variant */
    char *identity;    /* of the library, as text (event/file_identity.h) */
};

struct library_set {
    const char *plan;
    struct dh_library_variants *out;
    DH_VEC(struct derived_library) derived;
    struct dh_err *err;
    bool ok;
};

static char *identity_of(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return dh_strdup("");
    struct dh_file_identity id = dh_file_identity_of(&s);
    return dh_format(DH_FILE_IDENTITY_FORMAT, id.inode, id.stamp);
}

/* Opened by its path what another module needs by its name. */
static bool is_listed(const struct dh_library_variants *v, const char *variant)
{
    for (size_t i = 0; i < v->files.n; i++)
        if (strcmp(v->files.at[i], variant) == 0)
            return true;
    return false;
}

static void derive_library(void *arg, const char *name, const char *path, bool instrumented)
{
    struct library_set *l = arg;
    if (!instrumented || !l->ok)
        return;
    char *variant = dh_variant_derive(path, l->plan, l->err);
    l->ok = variant != NULL;
    if (!variant || is_listed(l->out, variant)) {
        free(variant);
        return;
    }
    if (strcmp(variant, path) != 0) {
        /* One needed by its path has no soname; link_recipe.c makes the variant ask for its base name. */
        struct derived_library d = {
            .name = dh_strdup(dh_basename(name)), .path = dh_strdup(variant), .identity = identity_of(path)};
        dh_vec_push(&l->derived, d);
    }
    dh_vec_push(&l->out->files, variant);
}

static bool link_to(const char *variant, const char *folder, const char *name, struct dh_err *err)
{
    char *link = dh_format("%s/%s", folder, name);
    bool ok = symlink(variant, link) == 0 || errno == EEXIST || dh_err_errno(err, "cannot write %s", link);
    free(link);
    return ok;
}

/* Symbolic links, in a folder named by the hash of its content. */
static char *lay_out(const struct library_set *l, struct dh_err *err)
{
    struct dh_str key = {0};
    for (size_t i = 0; i < l->derived.n; i++)
        dh_str_addf(&key, "%s=%s=%s\n", l->derived.at[i].name, l->derived.at[i].path, l->derived.at[i].identity);
    struct dh_id id = dh_content_hash(key.at, key.n);
    char text[33];
    dh_id_text(&id, text);
    dh_str_release(&key);
    char *cache = dh_cache_folder(err);
    char *folder = cache ? dh_format("%s/libraries-%s", cache, text) : NULL;
    bool ok = folder && dh_mkdir_parents(folder, 0700, err);
    for (size_t i = 0; ok && i < l->derived.n; i++) {
        const struct derived_library *d = &l->derived.at[i];
        ok = link_to(d->path, folder, d->name, err) && (!*d->identity || link_to(d->path, folder, d->identity, err));
    }
    free(cache);
    if (ok)
        return folder;
    free(folder);
    return NULL;
}

bool dh_library_variants_derive(struct dh_library_variants *v, const char *program, const char *plan,
                                struct dh_err *err)
{
    struct library_set l = {.plan = plan, .out = v, .err = err, .ok = true};
    *v = (struct dh_library_variants){0};
    bool ok = dh_libraries_each(program, derive_library, &l, err) && l.ok;
    if (ok && l.derived.n) {
        v->folder = lay_out(&l, err);
        ok = v->folder != NULL;
    }
    for (size_t i = 0; i < l.derived.n; i++) {
        free(l.derived.at[i].name);
        free(l.derived.at[i].path);
        free(l.derived.at[i].identity);
    }
    dh_vec_release(&l.derived);
    dh_vec_push(&v->files, (char *)NULL);
    if (!ok)
        dh_library_variants_release(v);
    return ok;
}

void dh_library_variants_release(struct dh_library_variants *v)
{
    for (size_t i = 0; i < v->files.n; i++)
        free(v->files.at[i]);
    dh_vec_release(&v->files);
    free(v->folder);
    *v = (struct dh_library_variants){0};
}

bool dh_variant_derive_libraries(const char *program, const char *plan, char **folder, struct dh_err *err)
{
    struct dh_library_variants v;
    *folder = NULL;
    if (!dh_library_variants_derive(&v, program, plan, err))
        return false;
    *folder = v.folder;
    v.folder = NULL;
    dh_library_variants_release(&v);
    return true;
}
