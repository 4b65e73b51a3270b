#include "image/archive.h"

#include "base/str.h"

#include <ar.h>
#include <ctype.h>
#include <string.h>

static const char plain_magic[] = "!<arch>\n", thin_magic[] = "!<thin>\n";
enum { MAGIC = 8 };

struct cursor {
    const char *path;
    const uint8_t *bytes;
    size_t n, at;
    const char *long_names; /* contents of the "//" member */
    size_t n_long_names;
};

bool dh_is_archive(const void *bytes, size_t n)
{
    return n >= MAGIC && (memcmp(bytes, plain_magic, MAGIC) == 0 || memcmp(bytes, thin_magic, MAGIC) == 0);
}

/* Decimal in a field padded with blanks; false when it is something else. */
static bool number(const char *field, size_t width, size_t *out)
{
    size_t value = 0, i = 0;
    for (; i < width && isdigit((unsigned char)field[i]); i++) {
        if (value > SIZE_MAX / 20)
            return false;
        value = value * 10 + (size_t)(field[i] - '0');
    }
    if (!i)
        return false;
    for (; i < width; i++)
        if (field[i] != ' ')
            return false;
    *out = value;
    return true;
}

/* "/123" refers to the long-name member; "name/" is short. */
static char *member_name(const struct cursor *c, const struct ar_hdr *h)
{
    size_t offset, n = 0;
    if (h->ar_name[0] == '/' && isdigit((unsigned char)h->ar_name[1])) {
        if (!number(h->ar_name + 1, sizeof h->ar_name - 1, &offset) || offset >= c->n_long_names)
            return NULL;
        const char *at = c->long_names + offset;
        while (offset + n < c->n_long_names && at[n] != '\n')
            n++;
        if (n && at[n - 1] == '/')
            n--;
        return dh_format("%.*s", (int)n, at);
    }
    while (n < sizeof h->ar_name && h->ar_name[n] != '/')
        n++;
    while (n && h->ar_name[n - 1] == ' ')
        n--;
    return dh_format("%.*s", (int)n, h->ar_name);
}

static bool is_index(const struct ar_hdr *h)
{
    return memcmp(h->ar_name, "/ ", 2) == 0 || memcmp(h->ar_name, "/SYM64/", 7) == 0 ||
           memcmp(h->ar_name, "__.SYMDEF", 9) == 0;
}

static char *thin_path(const char *archive, const char *member)
{
    int folder = (int)(dh_basename(archive) - archive);
    return member[0] == '/' ? dh_strdup(member) : dh_format("%.*s%s", folder, archive, member);
}

static bool add_member(struct dh_archive *a, struct cursor *c, const struct ar_hdr *h, size_t size, struct dh_err *err)
{
    struct dh_archive_member m = {.name = member_name(c, h), .bytes = a->thin ? NULL : c->bytes + c->at, .n = size};
    if (!m.name)
        return dh_err_set(err, "%s: damaged archive: bad member name at offset %zu", c->path, c->at - sizeof *h);
    if (a->thin)
        m.path = thin_path(c->path, m.name);
    dh_vec_push(&a->members, m);
    return true;
}

/* Reads the member at the cursor and advances. */
static bool next_member(struct dh_archive *a, struct cursor *c, struct dh_err *err)
{
    const struct ar_hdr *h = (const void *)(c->bytes + c->at);
    size_t start = c->at, size;
    if (c->n - c->at < sizeof *h || memcmp(h->ar_fmag, ARFMAG, 2) != 0 || !number(h->ar_size, sizeof h->ar_size, &size))
        return dh_err_set(err, "%s: damaged archive: bad member header at offset %zu", c->path, start);
    c->at += sizeof *h;
    bool names = memcmp(h->ar_name, "// ", 3) == 0;
    bool stored = !a->thin || names || is_index(h);
    if (stored && size > c->n - c->at)
        return dh_err_set(err, "%s: archive is cut short in the member at offset %zu", c->path, start);
    if (names) {
        c->long_names = (const char *)c->bytes + c->at;
        c->n_long_names = size;
    } else if (!is_index(h) && !add_member(a, c, h, size, err))
        return false;
    if (stored)
        c->at += size + (size & 1);
    if (c->at > c->n)
        c->at = c->n;
    return true;
}

bool dh_archive_read(struct dh_archive *a, const char *path, const void *bytes, size_t n, struct dh_err *err)
{
    *a = (struct dh_archive){0};
    if (!dh_is_archive(bytes, n))
        return dh_err_set(err, "%s: not an archive", path);
    a->thin = memcmp(bytes, thin_magic, MAGIC) == 0;
    struct cursor c = {.path = path, .bytes = bytes, .n = n, .at = MAGIC};
    while (c.at < c.n)
        if (!next_member(a, &c, err)) {
            dh_archive_release(a);
            return false;
        }
    return true;
}

void dh_archive_release(struct dh_archive *a)
{
    for (size_t i = 0; i < a->members.n; i++) {
        free(a->members.at[i].name);
        free(a->members.at[i].path);
    }
    dh_vec_release(&a->members);
}
