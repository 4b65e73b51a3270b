/* Variables by address: the ELF symbol, and from the debug information which part of it and where it is declared. */
#include "base/str.h"
#include "host/demangle.h"
#include "host/symbolize_internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 32 };

static bool number_of(Dwarf_Die *die, unsigned attribute, uint64_t *out)
{
    Dwarf_Attribute a;
    Dwarf_Word value;
    if (!dwarf_attr_integrate(die, attribute, &a) || dwarf_formudata(&a, &value) != 0)
        return false;
    *out = value;
    return true;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute a;
    return dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, type) && dwarf_peel_type(type, type) == 0;
}

static uint64_t size_of(Dwarf_Die *type)
{
    Dwarf_Word size;
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static bool is_thread_local(const Dwarf_Op *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ops[i].atom == DW_OP_form_tls_address || ops[i].atom == DW_OP_GNU_push_tls_address)
            return true;
    return false;
}

/* A fixed address. Further operations in the location compute the value of an optimised variable. */
static bool address_of(Dwarf_Die *die, Dwarf_Addr *out)
{
    Dwarf_Attribute a, indexed;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr(die, DW_AT_location, &a) || dwarf_getlocation(&a, &ops, &n) != 0 || n < 1 ||
        is_thread_local(ops, n))
        return false;
    if (ops[0].atom == DW_OP_addr)
        *out = ops[0].number;
    else if (ops[0].atom != DW_OP_addrx || dwarf_getlocation_attr(&a, &ops[0], &indexed) != 0 ||
             dwarf_formaddr(&indexed, out) != 0)
        return false;
    if (n > 1 && ops[1].atom == DW_OP_plus_uconst)
        *out += ops[1].number;
    return true;
}

struct search {
    Dwarf_Addr address, symbol; /* symbol: where the variable must begin, or 0 */
    Dwarf_Die found, type;
    Dwarf_Addr start;
    bool done;
};

static void try_variable(struct search *s, Dwarf_Die *die)
{
    Dwarf_Addr start;
    Dwarf_Die type;
    if (!address_of(die, &start) || s->address < start || (s->symbol && start != s->symbol) || !type_of(die, &type))
        return;
    uint64_t size = size_of(&type);
    if (s->address >= start + (size ? size : 1))
        return;
    s->found = *die;
    s->type = type;
    s->start = start;
    s->done = true;
}

/* Variables of files and namespaces; with `bodies` the static ones of functions instead. */
static void walk(struct search *s, Dwarf_Die *parent, bool bodies, int depth)
{
    Dwarf_Die die;
    if (depth > DEPTH_MOST || dwarf_child(parent, &die) != 0)
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            try_variable(s, &die);
        else if (tag == DW_TAG_namespace || (bodies && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block)))
            walk(s, &die, bodies, depth + 1);
    } while (!s->done && dwarf_siblingof(&die, &die) == 0);
}

static bool is_data(const GElf_Sym *sym)
{
    int type = GELF_ST_TYPE(sym->st_info);
    return type == STT_OBJECT || type == STT_NOTYPE || type == STT_COMMON;
}

static Dwarf_Addr symbol_start(Dwfl_Module *m, Dwarf_Addr address)
{
    GElf_Off offset;
    GElf_Sym sym;
    const char *name = dwfl_module_addrinfo(m, address, &offset, &sym, NULL, NULL, NULL);
    return name && is_data(&sym) && offset < sym.st_size ? address - offset : 0;
}

static bool find_variable(Dwfl_Module *m, Dwarf_Addr address, struct search *s)
{
    Dwarf_Addr symbol = symbol_start(m, address);
    for (int bodies = 0; bodies < 2; bodies++) {
        Dwarf_Addr bias;
        for (Dwarf_Die *unit = NULL; !s->done && (unit = dwfl_module_nextcu(m, unit, &bias));) {
            s->address = address - bias;
            s->symbol = symbol ? symbol - bias : 0;
            walk(s, unit, bodies, 0);
        }
    }
    return s->done;
}

static bool find_member(Dwarf_Die *type, uint64_t *offset, Dwarf_Die *member, Dwarf_Die *member_type)
{
    if (dwarf_child(type, member) != 0)
        return false;
    do {
        uint64_t at = 0;
        if (dwarf_tag(member) != DW_TAG_member || !type_of(member, member_type))
            continue;
        number_of(member, DW_AT_data_member_location, &at);
        if (*offset >= at && *offset < at + size_of(member_type)) {
            *offset -= at;
            return true;
        }
    } while (dwarf_siblingof(member, member) == 0);
    return false;
}

/* Number of elements of an array by dimension; 0: unknown. */
static unsigned dimensions_of(Dwarf_Die *array, uint64_t out[DEPTH_MOST])
{
    Dwarf_Die range;
    unsigned n = 0;
    if (dwarf_child(array, &range) != 0)
        return 0;
    do {
        uint64_t bound;
        if (dwarf_tag(&range) != DW_TAG_subrange_type || n == DEPTH_MOST)
            continue;
        out[n++] = number_of(&range, DW_AT_count, &bound)         ? bound
                   : number_of(&range, DW_AT_upper_bound, &bound) ? bound + 1
                                                                  : 0;
    } while (dwarf_siblingof(&range, &range) == 0);
    return n;
}

/* "[3][17]" */
static void add_indices(struct dh_str *name, Dwarf_Die *array, uint64_t index)
{
    uint64_t dimensions[DEPTH_MOST];
    unsigned n = dimensions_of(array, dimensions);
    for (unsigned i = 0; i < (n ? n : 1); i++) {
        uint64_t below = 1;
        for (unsigned k = i + 1; k < n; k++)
            below *= dimensions[k] ? dimensions[k] : 1;
        dh_str_addf(name, "[%llu]", (unsigned long long)(index / below));
        index %= below;
    }
}

/* ".lock" or "[3].lock" down to what begins at the offset. A lock is a union of libc's: what is inside says nothing. */
static void add_part(struct dh_str *name, Dwarf_Die type, uint64_t offset)
{
    for (int depth = 0; depth < DEPTH_MOST; depth++) {
        int tag = dwarf_tag(&type);
        Dwarf_Die member, inner;
        if (tag == DW_TAG_array_type && type_of(&type, &inner)) {
            uint64_t size = size_of(&inner);
            if (!size)
                return;
            add_indices(name, &type, offset / size);
            offset %= size;
            type = inner;
        } else if ((tag == DW_TAG_structure_type || tag == DW_TAG_class_type) &&
                   find_member(&type, &offset, &member, &inner)) {
            const char *text = dwarf_diename(&member);
            if (text && strncmp(text, "__", 2) == 0)
                return;
            if (text)
                dh_str_addf(name, ".%s", text);
            type = inner;
        } else
            return;
    }
}

static void declared_at(Dwarf_Die *die, struct dh_source_variable *out)
{
    Dwarf_Die unit;
    Dwarf_Attribute a;
    Dwarf_Files *files;
    uint64_t number, line;
    /* dwarf_decl_file takes 0, the unit's own file since DWARF 5, for none. */
    if (!number_of(die, DW_AT_decl_file, &number) || !number_of(die, DW_AT_decl_line, &line) ||
        !dwarf_diecu(die, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, NULL) != 0)
        return;
    const char *file = dwarf_filesrc(files, number, NULL, NULL);
    if (!file)
        return;
    out->file = dh_strdup(file);
    out->line = (unsigned)line;
    const char *directory = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &a));
    out->directory = directory ? dh_strdup(directory) : NULL;
}

static bool from_debug_info(Dwfl_Module *m, Dwarf_Addr address, struct dh_source_variable *out)
{
    struct search s = {0};
    if (!find_variable(m, address, &s))
        return false;
    struct dh_str name = {0};
    out->variable = dh_die_name(&s.found);
    out->size = size_of(&s.type);
    dh_str_add(&name, out->variable);
    add_part(&name, s.type, s.address - s.start);
    out->name = dh_str_take(&name);
    declared_at(&s.found, out);
    return true;
}

static bool from_symbols(Dwfl_Module *m, Dwarf_Addr address, struct dh_source_variable *out)
{
    GElf_Off offset;
    GElf_Sym sym;
    const char *name = dwfl_module_addrinfo(m, address, &offset, &sym, NULL, NULL, NULL);
    if (!name || !is_data(&sym) || offset >= (sym.st_size | 1))
        return false;
    char *own = dh_symbol_in_source(name);
    out->variable = dh_demangle(own);
    free(own);
    out->name = offset ? dh_format("%s+%llu", out->variable, (unsigned long long)offset) : dh_strdup(out->variable);
    out->size = sym.st_size;
    return true;
}

bool dh_symbolize_variable_at(struct dh_symbolizer *s, const char *module, uint64_t offset,
                              struct dh_source_variable *out)
{
    Dwfl_Module *m = dh_symbolizer_open(s, module);
    GElf_Addr bias;
    *out = (struct dh_source_variable){0};
    if (!m || !dwfl_module_getelf(m, &bias))
        return false;
    return from_debug_info(m, offset + bias, out) || from_symbols(m, offset + bias, out);
}

bool dh_symbolize_variable_extent(struct dh_symbolizer *s, const char *module, uint64_t offset, uint64_t *at,
                                  uint64_t *size)
{
    Dwfl_Module *m = dh_symbolizer_open(s, module);
    GElf_Addr bias;
    GElf_Off inside;
    GElf_Sym sym;
    if (!m || !dwfl_module_getelf(m, &bias) ||
        !dwfl_module_addrinfo(m, offset + bias, &inside, &sym, NULL, NULL, NULL) || !is_data(&sym) ||
        inside >= sym.st_size)
        return false;
    *at = offset - inside;
    *size = sym.st_size;
    return true;
}

bool dh_symbolize_find_variable(struct dh_symbolizer *s, const char *module, const char *name, uint64_t *at,
                                uint64_t *size)
{
    Dwfl_Module *m = dh_symbolizer_open(s, module);
    GElf_Addr bias;
    int n = m && dwfl_module_getelf(m, &bias) ? dwfl_module_getsymtab(m) : 0;
    for (int i = 1; i < n; i++) {
        GElf_Sym sym;
        GElf_Addr address;
        const char *symbol = dwfl_module_getsym_info(m, i, &sym, &address, NULL, NULL, NULL);
        if (!symbol || !is_data(&sym) || !sym.st_size || strncmp(symbol, name, strlen(name)) != 0)
            continue;
        char *own = dh_symbol_in_source(symbol);
        bool found = strcmp(own, name) == 0;
        free(own);
        if (!found)
            continue;
        *at = address - bias;
        *size = sym.st_size;
        return true;
    }
    return false;
}

void dh_source_variable_release(struct dh_source_variable *d)
{
    free(d->name);
    free(d->variable);
    free(d->file);
    free(d->directory);
}
