#include "image/elf_image.h"

#include <gelf.h>
#include <string.h>

bool dh_elf_open(struct dh_elf *e, const char *name, const void *bytes, size_t n, struct dh_err *err)
{
    static bool ready;
    if (!ready)
        ready = elf_version(EV_CURRENT) != EV_NONE;
    *e = (struct dh_elf){.name = name};
    if (n < sizeof(Elf64_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return dh_err_set(err, "%s: not an ELF file", name);
    Elf64_Ehdr h; /* a copy: members of archives are aligned to two bytes only */
    memcpy(&h, bytes, sizeof h);
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != EM_X86_64)
        return dh_err_set(err, "%s: not an x86-64 ELF file", name);
    e->elf = elf_memory((char *)(uintptr_t)bytes, n);
    GElf_Ehdr header;
    if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &header)) {
        dh_elf_release(e);
        return dh_err_set(err, "%s: damaged ELF file: %s", name, elf_errmsg(-1));
    }
    e->type = header.e_type;
    return true;
}

void dh_elf_release(struct dh_elf *e)
{
    if (e->elf)
        elf_end(e->elf);
    e->elf = NULL;
}

/* Fills `s` from a section header; false when it has no bytes in the file. */
static bool describe(struct dh_elf *e, Elf_Scn *scn, size_t names, struct dh_elf_section *s)
{
    GElf_Shdr h, names_header;
    Elf_Scn *names_section = elf_getscn(e->elf, names);
    if (!gelf_getshdr(scn, &h) || h.sh_type == SHT_NOBITS || !names_section ||
        !gelf_getshdr(names_section, &names_header))
        return false;
    Elf_Data *data = elf_rawdata(scn, NULL);
    const char *name = elf_strptr(e->elf, names, h.sh_name);
    if (!data || !name)
        return false;
    *s = (struct dh_elf_section){
        .name = name, .bytes = data->d_buf, .n = data->d_size, .name_offset = names_header.sh_offset + h.sh_name};
    return true;
}

void dh_elf_each_section(struct dh_elf *e, bool (*fn)(void *arg, const struct dh_elf_section *s), void *arg)
{
    size_t names;
    if (elf_getshdrstrndx(e->elf, &names) != 0)
        return;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(e->elf, scn));) {
        struct dh_elf_section s;
        if (describe(e, scn, names, &s) && !fn(arg, &s))
            return;
    }
}

struct wanted {
    const char *name;
    struct dh_elf_section *out;
    bool found;
};

static bool is_wanted(void *arg, const struct dh_elf_section *s)
{
    struct wanted *w = arg;
    w->found = strcmp(s->name, w->name) == 0;
    if (w->found)
        *w->out = *s;
    return !w->found;
}

bool dh_elf_find_section(struct dh_elf *e, const char *name, struct dh_elf_section *out)
{
    struct wanted w = {.name = name, .out = out};
    dh_elf_each_section(e, is_wanted, &w);
    return w.found;
}

static Elf_Scn *section_of_type(struct dh_elf *e, uint32_t type, GElf_Shdr *h)
{
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(e->elf, scn));)
        if (gelf_getshdr(scn, h) && h->sh_type == type)
            return scn;
    return NULL;
}

void dh_elf_each_symbol(struct dh_elf *e, bool dynamic, void (*fn)(void *arg, const struct dh_elf_symbol *s), void *arg)
{
    GElf_Shdr h;
    Elf_Scn *scn = section_of_type(e, dynamic ? SHT_DYNSYM : SHT_SYMTAB, &h);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    if (!data || !h.sh_entsize)
        return;
    GElf_Sym sym;
    for (int i = 1; gelf_getsym(data, i, &sym); i++) {
        const char *name = elf_strptr(e->elf, h.sh_link, sym.st_name);
        if (!name || !*name)
            continue;
        unsigned bind = GELF_ST_BIND(sym.st_info);
        struct dh_elf_symbol s = {.name = name,
                                  .defined = sym.st_shndx != SHN_UNDEF,
                                  .global = bind != STB_LOCAL,
                                  .weak = bind == STB_WEAK,
                                  .common = sym.st_shndx == SHN_COMMON,
                                  .type = GELF_ST_TYPE(sym.st_info),
                                  .visibility = GELF_ST_VISIBILITY(sym.st_other)};
        fn(arg, &s);
    }
}

void dh_elf_each_dynamic(struct dh_elf *e, void (*fn)(void *arg, int64_t tag, const char *text), void *arg)
{
    static const int64_t with_text[] = {DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH};
    GElf_Shdr h;
    Elf_Scn *scn = section_of_type(e, SHT_DYNAMIC, &h);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    GElf_Dyn d;
    for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
        for (size_t k = 0; k < sizeof with_text / sizeof *with_text; k++)
            if (d.d_tag == with_text[k]) {
                const char *text = elf_strptr(e->elf, h.sh_link, d.d_un.d_val);
                if (text)
                    fn(arg, d.d_tag, text);
            }
}
