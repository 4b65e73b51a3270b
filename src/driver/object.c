#include "driver/object.h"

#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

static bool patch(const char *path, size_t offset, char level, struct dh_err *err)
{
    char name[sizeof DH_CLANG_BITCODE] = DH_OBJECT_BITCODE;
    _Static_assert(sizeof DH_CLANG_BITCODE == sizeof DH_OBJECT_BITCODE + 1, "renaming in place needs equal lengths");
    name[sizeof name - 2] = level;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && pwrite(fd, name, sizeof name - 1, (off_t)offset) == (ssize_t)sizeof name - 1;
    if (!ok)
        dh_err_errno(err, "%s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool dh_object_mark(const char *path, char level, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_elf e;
    if (!dh_file_read(path, &b, err))
        return dh_err_while(err, "marking the bitcode of %s", path);
    bool ok = dh_elf_open(&e, path, b.at, b.n, err);
    if (ok) {
        struct dh_elf_section s;
        if (dh_elf_find_section(&e, DH_CLANG_BITCODE, &s))
            ok = patch(path, s.name_offset, level, err);
        dh_elf_release(&e);
    }
    dh_bytes_release(&b);
    return ok || dh_err_while(err, "marking the bitcode of %s", path);
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

size_t dh_bitcode_stream(const uint8_t *bytes, size_t n)
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
