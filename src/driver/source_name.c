#include "driver/source_name.h"

#include "base/alloc.h"
#include "base/str.h"
#include "driver/merge.h"
#include "driver/object_bitcode.h"
#include "host/file.h"

#include <elf.h>
#include <llvm-c/BitWriter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *dh_prefix_map_path(const struct dh_argv *words, const char *path)
{
    static const char *const options[] = {"-ffile-prefix-map=", "-fdebug-prefix-map="};
    for (int i = words->n; i-- > 0;)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            if (!dh_starts_with(words->at[i], options[k]))
                continue;
            const char *old = words->at[i] + strlen(options[k]), *equals = strrchr(old, '=');
            size_t n = equals ? (size_t)(equals - old) : 0;
            if (n && strncmp(path, old, n) == 0)
                return dh_format("%s%s", equals + 1, path + n);
        }
    return NULL;
}

struct renaming {
    const char *object, *source;
};

static LLVMMemoryBufferRef renamed_bitcode(const struct renaming *r, const struct dh_elf_section *s, struct dh_err *err)
{
    LLVMContextRef context = dh_context_new();
    LLVMModuleRef m = dh_parse_bitcode(context, r->object, s->bytes, s->n, err);
    if (!m)
        return NULL;
    LLVMSetSourceFileName(m, r->source, strlen(r->source));
    return LLVMWriteBitcodeToMemoryBuffer(m);
}

/* Section headers are searched by the section's offset, because libelf does not expose their addresses. */
static bool move_section(struct dh_bytes *file, const struct dh_elf_section *s, LLVMMemoryBufferRef content)
{
    Elf64_Ehdr *h = (void *)file->at;
    size_t old = (size_t)(s->bytes - file->at), n = LLVMGetBufferSize(content), end = (file->n + 15) & ~(size_t)15;
    for (unsigned i = 0; i < h->e_shnum; i++) {
        Elf64_Shdr *section = (void *)(file->at + h->e_shoff + i * sizeof *section);
        if (section->sh_offset != old || section->sh_size != s->n)
            continue;
        memset(file->at + old, 0, s->n);
        section->sh_offset = end;
        section->sh_size = n;
        uint8_t *grown = dh_xrealloc(file->at, end + n, 1);
        memset(grown + file->n, 0, end - file->n);
        memcpy(grown + end, LLVMGetBufferStart(content), n);
        *file = (struct dh_bytes){.at = grown, .n = end + n};
        return true;
    }
    return false;
}

struct finding {
    struct dh_elf_section section;
    bool found;
};

static bool find_bitcode(void *arg, const struct dh_elf_section *s)
{
    struct finding *f = arg;
    f->found = dh_object_bitcode_level(s->name, '2') != 0;
    if (f->found)
        f->section = *s;
    return !f->found;
}

/* Works on a copy of the file's bytes: libelf is closed before they move. */
static bool rename_in(struct dh_bytes *file, const struct renaming *r, struct dh_err *err)
{
    struct dh_elf e;
    struct finding f = {0};
    if (!dh_elf_open(&e, r->object, file->at, file->n, err))
        return false;
    dh_elf_each_section(&e, find_bitcode, &f);
    LLVMMemoryBufferRef content = f.found ? renamed_bitcode(r, &f.section, err) : NULL;
    dh_elf_release(&e);
    if (!f.found)
        return true;
    return content && (move_section(file, &f.section, content) ||
                       dh_err_set(err, "%s: its bitcode section cannot be rewritten", r->object));
}

static bool rename_source(void *arg, struct dh_err *err)
{
    const struct renaming *r = arg;
    struct dh_bytes file;
    struct stat s;
    return dh_file_read(r->object, &file, err) && rename_in(&file, r, err) && stat(r->object, &s) == 0 &&
           dh_file_write(r->object, file.at, file.n, s.st_mode & 0777, err);
}

bool dh_object_rename_source(const char *object, const char *source, struct dh_err *err)
{
    struct renaming r = {.object = object, .source = source};
    return dh_child_run("renaming the source", rename_source, &r, err) ||
           dh_err_while(err, "applying the prefix map to %s", object);
}
