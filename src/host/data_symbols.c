#include "host/data_symbols.h"

#include "base/str.h"
#include "base/vec.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

struct variable {
    uint64_t at, size;
    char *name;
};

struct dh_data_symbols {
    DH_VEC(struct variable) all; /* by address, then the larger first */
};

static void add_symbol(struct dh_data_symbols *s, Elf *elf, const GElf_Shdr *table, const GElf_Sym *sym)
{
    const char *name = elf_strptr(elf, table->sh_link, sym->st_name);
    if (GELF_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_size && sym->st_shndx != SHN_UNDEF)
        dh_vec_push(&s->all, (struct variable){sym->st_value, sym->st_size, dh_strdup(name ? name : "")});
}

static void read_table(struct dh_data_symbols *s, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    GElf_Sym sym;
    for (size_t i = 0; i < n && i < INT32_MAX; i++)
        if (gelf_getsym(data, (int)i, &sym))
            add_symbol(s, elf, header, &sym);
}

static void read_elf(struct dh_data_symbols *s, Elf *elf)
{
    /* The dynamic table alone is what a stripped library has; beside the other it would only repeat. */
    for (unsigned type = SHT_SYMTAB; !s->all.n; type = SHT_DYNSYM) {
        for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) && header.sh_type == type)
                read_table(s, elf, section, &header);
        }
        if (type == SHT_DYNSYM)
            break;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct variable *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->size > y->size ? -1 : x->size < y->size;
}

struct dh_data_symbols *dh_data_symbols_read(const char *path)
{
    struct dh_data_symbols *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf && elf_kind(elf) == ELF_K_ELF)
        read_elf(s, elf);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    if (s->all.n)
        qsort(s->all.at, s->all.n, sizeof *s->all.at, by_address);
    return s;
}

void dh_data_symbols_free(struct dh_data_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->all.n; i++)
        free(s->all.at[i].name);
    dh_vec_release(&s->all);
    free(s);
}

static const struct variable *find(const struct dh_data_symbols *s, uint64_t addr)
{
    size_t low = 0, high = s->all.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->all.at[middle].at <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    const struct variable *v = low ? &s->all.at[low - 1] : NULL;
    while (v && v > s->all.at && v[-1].at == v->at) /* of several names the largest */
        v--;
    return v && addr - v->at < v->size ? v : NULL;
}

bool dh_data_symbols_find(const struct dh_data_symbols *s, uint64_t addr, uint64_t *at, uint64_t *size)
{
    const struct variable *v = find(s, addr);
    if (v) {
        *at = v->at;
        *size = v->size;
    }
    return v;
}

const char *dh_data_symbols_name(const struct dh_data_symbols *s, uint64_t addr)
{
    const struct variable *v = find(s, addr);
    return v ? v->name : "";
}
