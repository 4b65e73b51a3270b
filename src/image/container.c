#include "image/container.h"

#include "base/alloc.h"
#include "base/str.h"
#include "image/elf_image.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

static const char magic[8] = "DEADHEAT";
enum { ENDIAN_MARK = 0x01020304, MAX_PARTS = 64, COMPRESSION = 3 };

struct header {
    char magic[8];
    uint32_t version, endian, n_parts, reserved;
    struct dh_id id;
    char variant[32];
    struct dh_id hash; /* of this header, with zeroes here, and the part table that follows */
};

struct dh_container_writer {
    char variant[32];
    struct dh_str data;
    DH_VEC(struct dh_container_part) parts;
};

void dh_id_text(const struct dh_id *id, char text[33])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        text[2 * i] = digits[id->bytes[i] >> 4];
        text[2 * i + 1] = digits[id->bytes[i] & 15];
    }
    text[32] = 0;
}

struct dh_id dh_content_hash(const void *bytes, size_t n)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, n));
    struct dh_id id;
    memcpy(id.bytes, canonical.digest, sizeof id.bytes);
    return id;
}

struct dh_container_writer *dh_container_writer_new(const char *variant)
{
    struct dh_container_writer *w = DH_NEW(struct dh_container_writer);
    strncpy(w->variant, variant, sizeof w->variant - 1);
    return w;
}

static void free_writer(struct dh_container_writer *w)
{
    if (!w)
        return;
    dh_str_release(&w->data);
    dh_vec_release(&w->parts);
    free(w);
}

static void add_stored(struct dh_container_writer *w, const char *name, const void *stored, size_t n, size_t raw)
{
    struct dh_container_part p = {.offset = w->data.n, .stored = n, .raw = raw, .hash = dh_content_hash(stored, n)};
    memcpy(p.name, name, strnlen(name, sizeof p.name));
    dh_str_add_n(&w->data, stored, n);
    dh_vec_push(&w->parts, p);
}

bool dh_container_add(struct dh_container_writer *w, const char *part, const void *bytes, size_t n, struct dh_err *err)
{
    size_t bound = ZSTD_compressBound(n);
    void *out = malloc(bound);
    size_t stored = out ? ZSTD_compress(out, bound, bytes, n, COMPRESSION) : 0;
    bool ok = out && !ZSTD_isError(stored);
    if (ok)
        add_stored(w, part, out, stored, n);
    free(out);
    return ok || dh_err_set(err, "cannot compress part '%s' (%zu bytes)", part, n);
}

bool dh_container_copy(struct dh_container_writer *w, const struct dh_container *from, const char *part,
                       struct dh_err *err)
{
    const struct dh_container_part *p = dh_container_find(from, part);
    if (!p)
        return dh_err_set(err, "part '%s' is missing", part);
    add_stored(w, part, from->section.at + p->offset, p->stored, p->raw);
    return true;
}

/* Header and part table have one hash: a flipped bit in the id would otherwise name another program. */
static struct dh_id head_hash(const struct header *h, const void *table)
{
    struct header blank = *h;
    blank.hash = (struct dh_id){0};
    struct dh_str both = {0};
    dh_str_add_n(&both, (const char *)&blank, sizeof blank);
    dh_str_add_n(&both, table, h->n_parts * sizeof(struct dh_container_part));
    struct dh_id id = dh_content_hash(both.at, both.n);
    dh_str_release(&both);
    return id;
}

struct dh_bytes dh_container_finish(struct dh_container_writer *w, const struct dh_id *id)
{
    size_t table = w->parts.n * sizeof *w->parts.at;
    struct header h = {
        .version = DH_CONTAINER_VERSION, .endian = ENDIAN_MARK, .n_parts = (uint32_t)w->parts.n, .id = *id};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.variant, w->variant, sizeof h.variant);
    for (size_t i = 0; i < w->parts.n; i++)
        w->parts.at[i].offset += sizeof h + table;
    h.hash = head_hash(&h, w->parts.at);
    struct dh_str out = {0};
    dh_str_add_n(&out, (const char *)&h, sizeof h);
    dh_str_add_n(&out, (const char *)w->parts.at, table);
    dh_str_add_n(&out, w->data.at ? w->data.at : "", w->data.n);
    free_writer(w);
    return dh_bytes_take(&out);
}

static bool read_header(const char *name, const struct dh_bytes *s, struct header *h, struct dh_err *err)
{
    if (s->n < sizeof *h)
        return dh_err_set(err, "%s: section %s is cut short; build it again", name, DH_CONTAINER_SECTION);
    memcpy(h, s->at, sizeof *h);
    if (memcmp(h->magic, magic, sizeof magic) != 0 || h->endian != ENDIAN_MARK)
        return dh_err_set(err, "%s: section %s is damaged; build it again", name, DH_CONTAINER_SECTION);
    if (h->version != DH_CONTAINER_VERSION)
        return dh_err_set(err, "%s: made by another deadheat (format %u, this one reads %d); build it again", name,
                          h->version, DH_CONTAINER_VERSION);
    if (h->n_parts > MAX_PARTS || s->n - sizeof *h < h->n_parts * sizeof(struct dh_container_part))
        return dh_err_set(err, "%s: section %s is cut short; build it again", name, DH_CONTAINER_SECTION);
    return true;
}

bool dh_container_parse(struct dh_container *c, const char *name, struct dh_bytes section, struct dh_err *err)
{
    *c = (struct dh_container){.section = section};
    struct header h;
    if (!read_header(name, &section, &h, err)) {
        dh_container_release(c);
        return false;
    }
    struct dh_id hash = head_hash(&h, section.at + sizeof h);
    bool ok = memcmp(&hash, &h.hash, sizeof hash) == 0;
    for (uint32_t i = 0; ok && i < h.n_parts; i++) {
        struct dh_container_part p;
        memcpy(&p, section.at + sizeof h + i * sizeof p, sizeof p);
        ok = p.offset <= section.n && p.stored <= section.n - p.offset;
        dh_vec_push(&c->parts, p);
    }
    if (!ok) {
        dh_container_release(c);
        return dh_err_set(err, "%s: section %s is damaged; build it again", name, DH_CONTAINER_SECTION);
    }
    c->id = h.id;
    memcpy(c->variant, h.variant, sizeof c->variant);
    c->variant[sizeof c->variant - 1] = 0;
    return true;
}

/* A copy of the section; true without bytes when the file has none. */
static bool copy_section(const char *path, struct dh_bytes *section, struct dh_err *err)
{
    struct dh_bytes file;
    struct dh_elf e;
    struct dh_elf_section s;
    *section = (struct dh_bytes){0};
    if (!dh_file_read(path, &file, err))
        return false;
    bool ok = dh_elf_open(&e, path, file.at, file.n, err);
    if (ok && dh_elf_find_section(&e, DH_CONTAINER_SECTION, &s))
        *section = (struct dh_bytes){.at = dh_xmemdup(s.bytes, s.n), .n = s.n};
    if (ok)
        dh_elf_release(&e);
    dh_bytes_release(&file);
    return ok;
}

bool dh_container_open(struct dh_container *c, const char *path, struct dh_err *err)
{
    struct dh_bytes section;
    *c = (struct dh_container){0};
    if (!copy_section(path, &section, err))
        return false;
    if (!section.at)
        return dh_err_set(err,
                          "%s: carries no deadheat module: not built with 'deadheat cc', built with "
                          "-fdeadheat-no-embed, or stripped",
                          path);
    return dh_container_parse(c, path, section, err);
}

bool dh_container_present(const char *path)
{
    struct dh_bytes section;
    struct dh_err ignored = {0};
    bool present = copy_section(path, &section, &ignored) && section.at;
    dh_bytes_release(&section);
    dh_err_release(&ignored);
    return present;
}

void dh_container_release(struct dh_container *c)
{
    dh_bytes_release(&c->section);
    dh_vec_release(&c->parts);
}

const struct dh_container_part *dh_container_find(const struct dh_container *c, const char *part)
{
    for (size_t i = 0; i < c->parts.n; i++)
        if (strncmp(c->parts.at[i].name, part, sizeof c->parts.at[i].name) == 0)
            return &c->parts.at[i];
    return NULL;
}

static bool check_part(const struct dh_container *c, const struct dh_container_part *p, struct dh_err *err)
{
    struct dh_id hash = dh_content_hash(c->section.at + p->offset, p->stored);
    return memcmp(&hash, &p->hash, sizeof hash) == 0 ||
           dh_err_set(err, "part '%.8s' is damaged (its hash differs); build it again", p->name);
}

bool dh_container_check(const struct dh_container *c, struct dh_err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < c->parts.n; i++)
        ok = check_part(c, &c->parts.at[i], err);
    return ok;
}

bool dh_container_read(const struct dh_container *c, const char *part, struct dh_bytes *out, struct dh_err *err)
{
    *out = (struct dh_bytes){0};
    const struct dh_container_part *p = dh_container_find(c, part);
    if (!p)
        return dh_err_set(err, "part '%s' is missing; build it again", part);
    const uint8_t *stored = c->section.at + p->offset;
    if (!check_part(c, p, err))
        return false;
    /* The hash covers the stored bytes only; the raw size comes from the table. */
    if (ZSTD_getFrameContentSize(stored, p->stored) != p->raw)
        return dh_err_set(err, "part '%s' is damaged (its size differs); build it again", part);
    out->at = malloc(p->raw ? p->raw : 1);
    out->n = p->raw;
    if (!out->at || ZSTD_decompress(out->at, p->raw, stored, p->stored) != p->raw) {
        dh_bytes_release(out);
        return dh_err_set(err, "part '%s' cannot be unpacked; build it again", part);
    }
    return true;
}

/* Lays out: ELF header, contents, section names, section headers. */
bool dh_container_write_object(const char *path, const struct dh_bytes *section, struct dh_err *err)
{
    static const char names[] = "\0" DH_CONTAINER_SECTION "\0.shstrtab\0.note.GNU-stack";
    enum { NAME_CONTENT = 1, NAME_NAMES = 1 + sizeof DH_CONTAINER_SECTION, NAME_STACK = NAME_NAMES + 10 };
    size_t names_at = sizeof(Elf64_Ehdr) + section->n;
    size_t table_at = (names_at + sizeof names + 7) & ~(size_t)7;
    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                    .e_type = ET_REL,
                    .e_machine = EM_X86_64,
                    .e_version = EV_CURRENT,
                    .e_shoff = table_at,
                    .e_ehsize = sizeof h,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = 4,
                    .e_shstrndx = 2};
    Elf64_Shdr table[4] = {
        {0},
        {.sh_name = NAME_CONTENT,
         .sh_type = SHT_PROGBITS,
         .sh_offset = sizeof h,
         .sh_size = section->n,
         .sh_addralign = 1},
        {.sh_name = NAME_NAMES,
         .sh_type = SHT_STRTAB,
         .sh_offset = names_at,
         .sh_size = sizeof names,
         .sh_addralign = 1},
        {.sh_name = NAME_STACK, .sh_type = SHT_PROGBITS, .sh_offset = names_at, .sh_addralign = 1},
    };
    struct dh_str out = {0};
    dh_str_add_n(&out, (const char *)&h, sizeof h);
    dh_str_add_n(&out, (const char *)section->at, section->n);
    dh_str_add_n(&out, names, sizeof names);
    while (out.n < table_at)
        dh_str_add_n(&out, "", 1);
    dh_str_add_n(&out, (const char *)table, sizeof table);
    bool ok = dh_file_write(path, out.at, out.n, 0600, err);
    dh_str_release(&out);
    return ok;
}
