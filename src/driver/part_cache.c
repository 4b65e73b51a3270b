#include "driver/part_cache.h"

#include "base/str.h"
#include "host/cache.h"
#include "host/file.h"
#include "image/container.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *entry_of(const struct dh_part_source *s, struct dh_err *err)
{
    char text[33], *cache = dh_cache_folder(err);
    struct dh_str key = {0};
    struct dh_id id = dh_content_hash(s->bitcode, s->n);
    dh_str_add_n(&key, (const char *)id.bytes, sizeof id.bytes);
    dh_str_add(&key, s->how);
    id = dh_content_hash(key.at, key.n);
    dh_id_text(&id, text);
    char *entry = cache ? dh_format("%s/part-%s", cache, text) : NULL;
    dh_str_release(&key);
    free(cache);
    return entry;
}

/* In a folder beside it, which is renamed when it is complete. */
static bool generate(const struct dh_part_source *s, const char *entry, struct dh_err *err)
{
    char *made = dh_format("%s.new-%d", entry, (int)getpid()), *object = dh_format("%s/part.o", made);
    bool ok = dh_mkdir_parents(made, 0700, err) && s->generate(s->arg, object, err);
    /* Another process may have made the same entry meanwhile: either is good. */
    ok = ok && (rename(made, entry) == 0 || dh_file_exists(entry) || dh_err_errno(err, "cannot write %s", entry));
    dh_remove_tree(made);
    free(object);
    free(made);
    return ok;
}

bool dh_part_cache_get(const struct dh_part_source *s, const char *object, struct dh_err *err)
{
    char *entry = entry_of(s, err);
    if (!entry)
        return false;
    char *kept = dh_format("%s/part.o", entry);
    bool ok = true;
    if (dh_file_exists(kept))
        utimensat(AT_FDCWD, entry, NULL, 0); /* used now */
    else
        ok = generate(s, entry, err);
    ok = ok && (symlink(kept, object) == 0 || dh_err_errno(err, "cannot write %s", object));
    free(kept);
    free(entry);
    return ok;
}
