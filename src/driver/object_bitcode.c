#include "driver/object_bitcode.h"

#include "host/file.h"
#include "image/container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

char dh_object_bitcode_level(const char *section, char fallback)
{
    size_t n = strlen(DH_OBJECT_BITCODE);
    if (strcmp(section, DH_CLANG_BITCODE) == 0)
        return fallback;
    if (strncmp(section, DH_OBJECT_BITCODE, n) == 0 && section[n] && !section[n + 1] && strchr("0123sz", section[n]))
        return section[n];
    return 0;
}

static bool notice_bitcode(void *arg, const struct dh_elf_section *s)
{
    bool *has = arg;
    *has = *has || dh_object_bitcode_level(s->name, '2');
    return !*has;
}

bool dh_object_has_bitcode(struct dh_elf *e)
{
    bool has = false;
    dh_elf_each_section(e, notice_bitcode, &has);
    return has;
}

/* A top-level record of a bitstream: ENTER_SUBBLOCK (abbreviation 1, two bits), vbr8 id, vbr4 width, word aligned,
 * then the length in words. Walking these is all that splitting needs. */
static size_t top_level_block(const uint8_t *at, size_t n, unsigned *id)
{
    uint32_t word, length;
    if (n < 8)
        return 0;
    memcpy(&word, at, 4);
    memcpy(&length, at + 4, 4);
    if ((word & 3) != 1 || word >> 9 & 1)
        return 0; /* not a block, or an id that does not fit the first vbr chunk */
    *id = word >> 2 & 0x7f;
    size_t size = 8 + (size_t)length * 4;
    return size <= n ? size : 0;
}

size_t dh_bitcode_stream_length(const uint8_t *bytes, size_t n)
{
    static const uint8_t magic[4] = {'B', 'C', 0xC0, 0xDE};
    if (n < 4 || memcmp(bytes, magic, 4) != 0)
        return 0;
    size_t at = 4;
    while (at < n && !(n - at >= 4 && memcmp(bytes + at, magic, 4) == 0)) {
        unsigned id;
        size_t size = top_level_block(bytes + at, n - at, &id);
        if (!size)
            return 0;
        at += size;
    }
    return at;
}

/* The hash ("seal") overwrites the tail of the symbol table that clang adds for linkers of bitcode, before the word
 * that ends the block; we do not use that table. The object keeps its layout, and each stream that ld -r joins has its
 * own. */
enum { SYMBOL_TABLE_BLOCK = 25, LEAST_SYMBOL_TABLE = 64 };
static const char seal_mark[8] = "DHSEAL1";
struct seal {
    char mark[sizeof seal_mark];
    struct dh_id hash; /* of the stream with zeroes in place of the seal */
};

static const uint8_t *find_seal(const uint8_t *stream, size_t n)
{
    unsigned id;
    for (size_t at = 4, size; (size = top_level_block(stream + at, n - at, &id)); at += size)
        if (id == SYMBOL_TABLE_BLOCK && size >= LEAST_SYMBOL_TABLE)
            return stream + at + size - 4 - sizeof(struct seal);
    return NULL;
}

static struct seal make_seal(const uint8_t *stream, size_t n, const uint8_t *place)
{
    static const uint8_t blank[sizeof(struct seal)];
    struct seal s;
    size_t before = (size_t)(place - stream);
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        abort();
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, stream, before);
    XXH3_128bits_update(state, blank, sizeof blank);
    XXH3_128bits_update(state, place + sizeof blank, n - before - sizeof blank);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    memcpy(s.mark, seal_mark, sizeof s.mark);
    memcpy(s.hash.bytes, canonical.digest, sizeof s.hash.bytes);
    return s;
}

bool dh_bitcode_hash_matches(const uint8_t *stream, size_t n)
{
    const uint8_t *place = find_seal(stream, n);
    if (!place || memcmp(place, seal_mark, sizeof seal_mark) != 0)
        return true;
    struct seal s = make_seal(stream, n, place);
    return memcmp(place, &s, sizeof s) == 0;
}

static bool patch(const char *path, size_t offset, const void *bytes, size_t n, struct dh_err *err)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && pwrite(fd, bytes, n, (off_t)offset) == (ssize_t)n;
    if (!ok)
        dh_err_errno(err, "%s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool dh_object_rename_bitcode(const char *path, char level, struct dh_err *err)
{
    char name[sizeof DH_CLANG_BITCODE] = DH_OBJECT_BITCODE;
    _Static_assert(sizeof DH_CLANG_BITCODE == sizeof DH_OBJECT_BITCODE + 1, "renaming in place needs equal lengths");
    name[sizeof name - 2] = level;
    struct dh_bytes b;
    struct dh_elf e;
    if (!dh_file_read(path, &b, err))
        return dh_err_while(err, "marking the bitcode of %s", path);
    bool ok = dh_elf_open(&e, path, b.at, b.n, err);
    if (ok) {
        struct dh_elf_section s;
        if (dh_elf_find_section(&e, DH_CLANG_BITCODE, &s))
            ok = patch(path, s.name_offset, name, sizeof name - 1, err);
        dh_elf_release(&e);
    }
    dh_bytes_release(&b);
    return ok || dh_err_while(err, "marking the bitcode of %s", path);
}

struct sealing {
    const char *path;
    const uint8_t *file;
    struct dh_err *err;
    bool ok;
};

static bool seal_section(void *arg, const struct dh_elf_section *s)
{
    struct sealing *g = arg;
    size_t n = dh_object_bitcode_level(s->name, 0) ? dh_bitcode_stream_length(s->bytes, s->n) : 0;
    const uint8_t *place = n ? find_seal(s->bytes, n) : NULL;
    if (place) {
        struct seal made = make_seal(s->bytes, n, place);
        g->ok = patch(g->path, (size_t)(place - g->file), &made, sizeof made, g->err);
    }
    return g->ok;
}

bool dh_object_hash_bitcode(const char *path, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_elf e;
    bool ok = dh_file_read(path, &b, err);
    if (ok && (ok = dh_elf_open(&e, path, b.at, b.n, err))) {
        struct sealing g = {.path = path, .file = b.at, .err = err, .ok = true};
        dh_elf_each_section(&e, seal_section, &g);
        dh_elf_release(&e);
        ok = g.ok;
    }
    dh_bytes_release(&b);
    return ok || dh_err_while(err, "sealing the bitcode of %s", path);
}
