#include "driver/link_inputs.h"

#include "base/alloc.h"
#include "base/str.h"
#include "driver/object_bitcode.h"
#include "image/archive.h"
#include "image/elf_image.h"

#include <stdlib.h>
#include <string.h>

struct used_member {
    char *archive, *member; /* archive: real path */
    bool taken;
};

struct collecting {
    struct dh_link_inputs *in;
    const struct dh_link_line *line;
    const struct dh_bytes *native;
    DH_VEC(struct used_member) used;
};

/* Trace lines are "path" or "archive(member)". */
static void read_trace(struct collecting *c, const char *trace)
{
    for (const char *at = trace; *at;) {
        size_t n = strcspn(at, "\n");
        const char *open = memrchr(at, '(', n);
        if (n && at[n - 1] == ')' && open) {
            char *archive = dh_format("%.*s", (int)(open - at), at);
            char *real = dh_path_real(archive);
            struct used_member u = {.archive = real ? real : dh_strdup(archive),
                                    .member = dh_format("%.*s", (int)(at + n - 1 - open - 1), open + 1)};
            dh_vec_push(&c->used, u);
            free(archive);
        }
        at += n + (at[n] == '\n');
    }
}

/* Folders of the toolchain and the system: what lies there is there again when a variant is linked. */
static bool is_system_path(const char *path)
{
    static const char *const folders[] = {"/usr/lib/", "/lib/", "/lib64/", "/usr/lib64/"};
    char *real = dh_path_real(path);
    bool system = false;
    for (size_t i = 0; real && i < sizeof folders / sizeof *folders; i++)
        system = system || dh_starts_with(real, folders[i]);
    free(real);
    return system;
}

static bool keep_level(void *arg, const struct dh_elf_section *s)
{
    char *level = arg;
    char l = dh_object_bitcode_level(s->name, 'x');
    if (l)
        *level = l;
    return !l;
}

/* Takes over the bytes. Anything that is not an ELF object is the linker's business. */
static bool add_object(struct collecting *c, const char *name, struct dh_bytes bytes, size_t word, bool lazy,
                       struct dh_err *err)
{
    struct dh_elf e;
    if (!dh_elf_open(&e, name, bytes.at, bytes.n, err)) {
        dh_bytes_release(&bytes);
        return false;
    }
    struct dh_link_input i = {.name = dh_strdup(name), .bytes = bytes, .word = word, .lazy = lazy};
    dh_elf_each_section(&e, keep_level, &i.level);
    if (i.level == 'x')
        i.level = c->line->level;
    bool object = e.type == ET_REL;
    dh_elf_release(&e);
    if (!object) {
        dh_bytes_release(&i.bytes);
        free(i.name);
        return true;
    }
    i.system = !i.level && is_system_path(c->line->words.at[word].text);
    dh_vec_push(&c->in->objects, i);
    return true;
}

static struct used_member *find_used(struct collecting *c, const char *archive, const char *member)
{
    /* Thin archives print their member's path in some places and its name in others. */
    for (size_t i = 0; i < c->used.n; i++) {
        struct used_member *u = &c->used.at[i];
        if (!u->taken && strcmp(u->archive, archive) == 0 &&
            (strcmp(u->member, member) == 0 || strcmp(dh_basename(u->member), dh_basename(member)) == 0))
            return u;
    }
    return NULL;
}

static size_t count_named(const struct dh_archive *a, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < a->members.n; i++)
        n += strcmp(a->members.at[i].name, name) == 0;
    return n;
}

static size_t count_used(const struct collecting *c, const char *archive, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->used.n; i++)
        n += strcmp(c->used.at[i].archive, archive) == 0 && strcmp(c->used.at[i].member, name) == 0;
    return n;
}

struct search {
    const struct dh_bytes *haystack;
    bool found;
};

static bool stream_is_linked(void *arg, const struct dh_elf_section *s)
{
    struct search *q = arg;
    if (dh_object_bitcode_level(s->name, 'x'))
        q->found = memmem(q->haystack->at, q->haystack->n, s->bytes, s->n) != NULL;
    return !q->found;
}

/* Of several members with one name, those whose bitcode came out of the linker were used. */
static bool was_linked(const struct collecting *c, const char *name, const struct dh_bytes *b)
{
    struct dh_elf e;
    struct dh_err ignored = {0};
    struct search q = {.haystack = c->native};
    if (dh_elf_open(&e, name, b->at, b->n, &ignored)) {
        if (dh_object_has_bitcode(&e))
            dh_elf_each_section(&e, stream_is_linked, &q);
        else
            q.found = true; /* unknown: offered lazily */
        dh_elf_release(&e);
    }
    dh_err_release(&ignored);
    return q.found;
}

static bool member_bytes(const struct dh_archive_member *m, struct dh_bytes *out, struct dh_err *err)
{
    if (m->path)
        return dh_file_read(m->path, out, err);
    *out = (struct dh_bytes){.at = dh_xmemdup(m->bytes, m->n), .n = m->n};
    return true;
}

static bool add_member(struct collecting *c, const char *path, const char *real, const struct dh_archive *a,
                       const struct dh_archive_member *m, size_t word, struct dh_err *err)
{
    struct used_member *u = find_used(c, real, m->name);
    if (!u)
        return true;
    size_t named = count_named(a, m->name);
    bool ambiguous = named > 1 && count_used(c, real, m->name) < named;
    struct dh_bytes b;
    if (!member_bytes(m, &b, err))
        return false;
    if (ambiguous && !was_linked(c, m->name, &b)) {
        dh_bytes_release(&b);
        return true;
    }
    if (!ambiguous)
        u->taken = true;
    char *name = dh_format("%s(%s)", path, m->name);
    bool ok = add_object(c, name, b, word, ambiguous, err);
    free(name);
    return ok;
}

static bool add_archive(struct collecting *c, const char *path, const struct dh_bytes *b, size_t word,
                        struct dh_err *err)
{
    struct dh_archive a;
    if (!dh_archive_read(&a, path, b->at, b->n, err))
        return false;
    char *real = dh_path_real(path);
    bool ok = true;
    for (size_t i = 0; ok && i < a.members.n; i++)
        ok = add_member(c, path, real ? real : path, &a, &a.members.at[i], word, err);
    free(real);
    dh_archive_release(&a);
    return ok;
}

static bool add_file(struct collecting *c, const char *path, size_t word, struct dh_err *err)
{
    struct dh_bytes b;
    if (!dh_file_read(path, &b, err))
        return false;
    if (dh_is_archive(b.at, b.n)) {
        bool ok = add_archive(c, path, &b, word, err);
        dh_bytes_release(&b);
        return ok;
    }
    if (b.n >= SELFMAG && memcmp(b.at, ELFMAG, SELFMAG) == 0)
        return add_object(c, path, b, word, false, err);
    dh_bytes_release(&b); /* a linker script */
    return true;
}

bool dh_link_inputs_collect(struct dh_link_inputs *in, const struct dh_link_line *line, const char *trace,
                            const struct dh_bytes *native, struct dh_err *err)
{
    *in = (struct dh_link_inputs){0};
    struct collecting c = {.in = in, .line = line, .native = native};
    read_trace(&c, trace);
    bool ok = true;
    for (size_t i = 0; ok && i < line->words.n; i++) {
        const struct dh_link_word *w = &line->words.at[i];
        if (w->kind == DH_LINK_WORD_FILE)
            ok = add_file(&c, w->text, i, err);
        else if (w->kind == DH_LINK_WORD_LIBRARY) {
            char *path = dh_link_line_find_library(line, w);
            if (path && dh_ends_with(path, ".a"))
                ok = add_file(&c, path, i, err);
            free(path);
        }
    }
    for (size_t i = 0; i < c.used.n; i++) {
        free(c.used.at[i].archive);
        free(c.used.at[i].member);
    }
    dh_vec_release(&c.used);
    return ok || dh_err_while(err, "reading the linked objects");
}

void dh_link_inputs_release(struct dh_link_inputs *in)
{
    for (size_t i = 0; i < in->objects.n; i++) {
        free(in->objects.at[i].name);
        dh_bytes_release(&in->objects.at[i].bytes);
    }
    dh_vec_release(&in->objects);
}

struct walking {
    const struct dh_link_input *in;
    char fallback;
    bool (*fn)(void *, const uint8_t *, size_t, char, struct dh_err *);
    void *arg;
    struct dh_err *err;
    bool ok;
};

static bool walk_section(void *arg, const struct dh_elf_section *s)
{
    struct walking *w = arg;
    char level = dh_object_bitcode_level(s->name, w->fallback);
    if (!level)
        return true;
    for (size_t at = 0; w->ok && at < s->n;) {
        size_t n = dh_bitcode_stream_length(s->bytes + at, s->n - at);
        if (!n)
            w->ok = dh_err_set(w->err, "%s: its bitcode is damaged at offset %zu; compile it again", w->in->name, at);
        else if (!dh_bitcode_hash_matches(s->bytes + at, n))
            w->ok = dh_err_set(w->err, "%s: its bitcode is damaged (its hash differs); compile it again", w->in->name);
        else
            w->ok = w->fn(w->arg, s->bytes + at, n, level, w->err);
        at += n;
    }
    return w->ok;
}

bool dh_link_input_each_bitcode(const struct dh_link_input *in, char fallback_level,
                                bool (*fn)(void *arg, const uint8_t *bytes, size_t n, char level, struct dh_err *err),
                                void *arg, struct dh_err *err)
{
    struct dh_elf e;
    if (!dh_elf_open(&e, in->name, in->bytes.at, in->bytes.n, err))
        return false;
    struct walking w = {.in = in, .fallback = fallback_level, .fn = fn, .arg = arg, .err = err, .ok = true};
    dh_elf_each_section(&e, walk_section, &w);
    dh_elf_release(&e);
    return w.ok;
}
