/* Witness files. Each user has a secret key with which his witnesses are marked, so that a witness from elsewhere is
 * not replayed without confirmation. */
#include "host/cache.h"
#include "host/file.h"
#include "image/container.h"
#include "prove/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { KEY = 64 };

static char *key_path(struct dh_err *err)
{
    char *cache = dh_cache_folder(err), *path = cache ? dh_format("%s/../witness.key", cache) : NULL;
    free(cache);
    return path;
}

static bool make_key(const char *path, struct dh_err *err)
{
    uint8_t key[KEY];
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key)
        return dh_err_errno(err, "no random numbers for %s", path);
    return dh_file_write(path, key, sizeof key, 0600, err);
}

static bool read_key(struct dh_bytes *key, struct dh_err *err)
{
    char *path = key_path(err);
    bool ok = path && (dh_file_size(path) == KEY || make_key(path, err)) && dh_file_read(path, key, err);
    if (ok && key->n != KEY) {
        dh_bytes_release(key);
        ok = dh_err_set(err, "%s is damaged; remove it", path);
    }
    free(path);
    return ok;
}

/* A keyed hash: half of the key before the text, half after it. */
static bool mark_of(const char *text, size_t n, char mark[33], struct dh_err *err)
{
    struct dh_bytes key;
    struct dh_str all = {0};
    if (!read_key(&key, err))
        return false;
    dh_str_add_n(&all, (const char *)key.at, KEY / 2);
    dh_str_add_n(&all, text, n);
    dh_str_add_n(&all, (const char *)key.at + KEY / 2, KEY / 2);
    struct dh_id id = dh_content_hash(all.at, all.n);
    dh_id_text(&id, mark);
    dh_str_release(&all);
    dh_bytes_release(&key);
    return true;
}

bool dh_witness_write(const struct dh_witness *w, const char *path, struct dh_err *err)
{
    struct dh_str s = {0};
    char mark[33];
    dh_witness_print(&s, w);
    bool ok = mark_of(s.at, s.n, mark, err);
    if (ok)
        dh_str_addf(&s, "mark %s\n", mark);
    ok = ok && dh_file_write(path, s.at, s.n, 0644, err);
    dh_str_release(&s);
    return ok;
}

static bool is_other_version(const char *text, size_t n)
{
    unsigned version = 0;
    char *begin = dh_format("%.*s", (int)(n < 64 ? n : 64), text);
    bool other = sscanf(begin, "deadheat-witness %u\n", &version) == 1 && version != DH_WITNESS_VERSION;
    free(begin);
    return other;
}

bool dh_witness_read(struct dh_witness *w, const char *path, bool *ours, bool *strange, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    char mark[33], own[33];
    size_t body;
    dh_witness_init(w);
    *ours = *strange = false;
    if (!dh_file_read(path, &b, err))
        return false;
    dh_witness_release(w);
    bool ok = dh_witness_parse(w, (const char *)b.at, b.n, mark, &body, err);
    if (ok)
        *ours = mark_of((const char *)b.at, body, own, &ignored) && strcmp(mark, own) == 0;
    else {
        char *why = err->text ? dh_strdup(err->text) : dh_strdup("it is no witness");
        *strange = is_other_version((const char *)b.at, b.n);
        dh_err_release(err);
        dh_err_set(err, "%s: %s", path, why);
        free(why);
    }
    dh_err_release(&ignored);
    dh_bytes_release(&b);
    return ok;
}
