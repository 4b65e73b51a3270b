#include "host/symbolize.h"

#include "base/alloc.h"
#include "base/str.h"
#include "host/symbolize_internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct module {
    char *path;
    Dwfl *dwfl;
    Dwfl_Module *at; /* NULL: cannot be read; kept so that it is tried once */
};

struct dh_symbolizer {
    DH_VEC(struct module) modules;
};

struct scopes {
    Dwarf_Die *at;
    size_t n, cap;
};

static char *debuginfo_path; /* NULL: libdwfl's default places */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debuginfo_path,
};

struct dh_symbolizer *dh_symbolizer_new(void)
{
    return DH_NEW(struct dh_symbolizer);
}

void dh_symbolizer_free(struct dh_symbolizer *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->modules.n; i++) {
        dwfl_end(s->modules.at[i].dwfl);
        free(s->modules.at[i].path);
    }
    dh_vec_release(&s->modules);
    free(s);
}

void dh_source_frames_release(struct dh_source_frames *f)
{
    for (size_t i = 0; i < f->frames.n; i++) {
        free(f->frames.at[i].function);
        free(f->frames.at[i].file);
        free(f->frames.at[i].directory);
    }
    dh_vec_release(&f->frames);
}

static const struct module *open_module(struct dh_symbolizer *s, const char *path)
{
    for (size_t i = 0; i < s->modules.n; i++)
        if (strcmp(s->modules.at[i].path, path) == 0)
            return &s->modules.at[i];
    struct module m = {.path = dh_strdup(path), .dwfl = dwfl_begin(&callbacks)};
    if (m.dwfl) {
        m.at = dwfl_report_offline(m.dwfl, path, path, -1);
        dwfl_report_end(m.dwfl, NULL, NULL);
    }
    dh_vec_push(&s->modules, m);
    return &s->modules.at[s->modules.n - 1];
}

Dwfl_Module *dh_symbolizer_open(struct dh_symbolizer *s, const char *path)
{
    return open_module(s, path)->at;
}

/* The file's addresses start at its own lowest one, libdwfl's at where it chose to lay the module. */
static bool module_address(Dwfl_Module *m, uint64_t offset, Dwarf_Addr *address)
{
    GElf_Addr bias;
    if (!dwfl_module_getelf(m, &bias))
        return false;
    *address = offset + bias;
    return true;
}

static const char *die_text(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute a;
    return dwarf_formstring(dwarf_attr_integrate(die, attribute, &a));
}

static bool die_number(Dwarf_Die *die, unsigned attribute, unsigned *out)
{
    Dwarf_Attribute a;
    Dwarf_Word value;
    if (dwarf_formudata(dwarf_attr(die, attribute, &a), &value) != 0)
        return false;
    *out = (unsigned)value;
    return true;
}

/* The declaration inside its class or namespace: a definition may stand elsewhere and only refer to it. */
static Dwarf_Die declaration_of(Dwarf_Die die)
{
    static const unsigned ways[] = {DW_AT_abstract_origin, DW_AT_specification};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        Dwarf_Attribute a;
        Dwarf_Die target;
        if (dwarf_attr(&die, ways[i], &a) && dwarf_formref_die(&a, &target))
            die = target;
    }
    return die;
}

static const char *scope_name(Dwarf_Die *scope)
{
    switch (dwarf_tag(scope)) {
    case DW_TAG_namespace:
        return die_text(scope, DW_AT_name) ? die_text(scope, DW_AT_name) : "(anonymous namespace)";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return die_text(scope, DW_AT_name) ? die_text(scope, DW_AT_name) : "(anonymous)";
    case DW_TAG_subprogram:
        return die_text(scope, DW_AT_name);
    default:
        return NULL;
    }
}

char *dh_die_name(Dwarf_Die *function)
{
    const char *name = die_text(function, DW_AT_name);
    if (!name)
        name = die_text(function, DW_AT_linkage_name);
    if (!name)
        return dh_strdup("?");
    Dwarf_Die declaration = declaration_of(*function), *scopes = NULL;
    int n = dwarf_getscopes_die(&declaration, &scopes);
    struct dh_str s = {0};
    for (int i = n - 1; i >= 1; i--) { /* outermost last; 0 is the function itself */
        const char *scope = scope_name(&scopes[i]);
        if (scope)
            dh_str_addf(&s, "%s::", scope);
    }
    dh_str_add(&s, name);
    free(scopes);
    return dh_str_take(&s);
}

struct place {
    const char *file, *directory;
    unsigned line, column;
};

static struct place place_of_address(Dwarf_Die *unit, Dwarf_Addr address)
{
    struct place p = {0};
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int n;
    if (!line)
        return p;
    p.file = dwarf_linesrc(line, NULL, NULL);
    if (dwarf_lineno(line, &n) == 0)
        p.line = (unsigned)n;
    if (dwarf_linecol(line, &n) == 0)
        p.column = (unsigned)n;
    return p;
}

static struct place place_of_call(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    struct place p = {0};
    unsigned file;
    Dwarf_Files *files;
    if (die_number(inlined, DW_AT_call_file, &file) && dwarf_getsrcfiles(unit, &files, NULL) == 0)
        p.file = dwarf_filesrc(files, file, NULL, NULL);
    die_number(inlined, DW_AT_call_line, &p.line);
    die_number(inlined, DW_AT_call_column, &p.column);
    return p;
}

static void add_frame(struct dh_source_frames *out, char *function, const struct place *p)
{
    struct dh_source_frame f = {.function = function};
    if (p->file) {
        f.file = dh_strdup(p->file);
        f.directory = p->directory ? dh_strdup(p->directory) : NULL;
        f.line = p->line;
        f.column = p->column;
    }
    dh_vec_push(&out->frames, f);
}

/* Has no addresses itself, but what stands in it may. */
static bool is_container(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type;
}

/* The scopes around an address as the code lies, outermost first. libdw's dwarf_getscopes goes on to the definition of
 * an inlined function instead, and finds nothing at all when that is in another unit, as it is after merging. */
static bool add_scopes(Dwarf_Die *parent, Dwarf_Addr address, struct scopes *out)
{
    Dwarf_Die child;
    if (dwarf_child(parent, &child) != 0)
        return false;
    do {
        if (is_container(&child) && add_scopes(&child, address, out))
            return true;
        if (dwarf_haspc(&child, address) > 0) {
            dh_vec_push(out, child);
            add_scopes(&child, address, out);
            return true;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* clang writes no address index, so every compile unit may have to be searched. */
static Dwarf_Die *unit_of(Dwfl_Module *m, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(m, address, bias);
    if (unit)
        return unit;
    do
        unit = dwfl_module_nextcu(m, unit, bias);
    while (unit && dwarf_haspc(unit, address - *bias) <= 0);
    return unit;
}

/* DW_AT_call_file and DW_AT_call_line of an inlined call are the location in its caller. */
static bool add_from_debug_info(Dwfl_Module *m, Dwarf_Addr address, struct dh_source_frames *out)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = unit_of(m, address, &bias);
    if (!unit)
        return false;
    struct scopes scopes = {0};
    add_scopes(unit, address - bias, &scopes);
    struct place p = place_of_address(unit, address - bias);
    size_t before = out->frames.n;
    for (size_t i = scopes.n; i-- > 0;) {
        int tag = dwarf_tag(&scopes.at[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        p.directory = die_text(unit, DW_AT_comp_dir);
        add_frame(out, dh_die_name(&scopes.at[i]), &p);
        if (tag == DW_TAG_subprogram)
            break; /* of a function inside another only the inner one is called */
        p = place_of_call(unit, &scopes.at[i]);
    }
    dh_vec_release(&scopes);
    return out->frames.n > before;
}

char *dh_symbol_in_source(const char *symbol)
{
    char *name = dh_strdup(symbol), *mark = strstr(name, ".dh");
    if (mark && mark != name)
        *mark = 0;
    return name;
}

static bool add_from_symbols(Dwfl_Module *m, Dwarf_Addr address, struct dh_source_frames *out)
{
    const char *name = dwfl_module_addrname(m, address);
    if (!name)
        return false;
    add_frame(out, dh_symbol_in_source(name), &(struct place){0});
    return true;
}

bool dh_symbolize(struct dh_symbolizer *s, const char *module, uint64_t offset, struct dh_source_frames *out)
{
    const struct module *m = open_module(s, module);
    Dwarf_Addr address;
    if (!m->at || !module_address(m->at, offset, &address))
        return false;
    return add_from_debug_info(m->at, address, out) || add_from_symbols(m->at, address, out);
}
