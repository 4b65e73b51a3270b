/* Reads ELF files from memory: sections by name, symbols. Layer: image. Input is untrusted; `bytes` must stay until
 * release. x86-64 only; anything else is an error. */
#ifndef DH_IMAGE_ELF_IMAGE_H
#define DH_IMAGE_ELF_IMAGE_H

#include "host/err.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_elf {
    Elf *elf;
    const char *name; /* for messages; borrowed */
    uint16_t type;    /* ET_REL, ET_EXEC, ET_DYN */
};

bool dh_elf_open(struct dh_elf *e, const char *name, const void *bytes, size_t n, struct dh_err *err);
void dh_elf_release(struct dh_elf *e);

struct dh_elf_section {
    const char *name;
    const uint8_t *bytes;
    size_t n;
    size_t name_offset; /* of its name in the file */
};
/* Calls fn for every section that has bytes in the file, until it returns false. */
void dh_elf_each_section(struct dh_elf *e, bool (*fn)(void *arg, const struct dh_elf_section *s), void *arg);
bool dh_elf_find_section(struct dh_elf *e, const char *name, struct dh_elf_section *out);

struct dh_elf_symbol {
    const char *name;
    bool defined, global, weak, common;
    uint8_t type, visibility; /* STT_, STV_ */
};
/* Symbols of .symtab, or of .dynsym when `dynamic`. */
void dh_elf_each_symbol(struct dh_elf *e, bool dynamic, void (*fn)(void *arg, const struct dh_elf_symbol *s),
                        void *arg);
/* Entries of .dynamic with a string: DT_NEEDED, DT_RUNPATH, ... */
void dh_elf_each_dynamic(struct dh_elf *e, void (*fn)(void *arg, int64_t tag, const char *text), void *arg);

#endif
