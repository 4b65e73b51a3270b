#include "cmd/meaning.h"

#include "finding/modules.h"
#include "host/data_symbols.h"

#include <stdlib.h>
#include <string.h>

struct dh_meaning {
    const struct dh_meta *meta;
    struct dh_text *text;
    struct dh_modules *modules;
    DH_VEC(struct dh_data_symbols *) variables; /* by module, NULL until they are asked for */
    struct dh_site_builder *places;             /* those of the metadata itself, as far as they were asked for */
    uint32_t n_places;
    struct dh_site_table table;
};

struct dh_meaning *dh_meaning_of_meta(const struct dh_meta *meta)
{
    struct dh_meaning *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->meta = meta;
    m->modules = dh_modules_new();
    return m;
}

struct dh_meaning *dh_meaning_of_text(struct dh_text *text)
{
    struct dh_meaning *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->text = text;
    return m;
}

void dh_meaning_free(struct dh_meaning *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->variables.n; i++)
        dh_data_symbols_free(m->variables.at[i]);
    dh_vec_release(&m->variables);
    if (m->modules)
        dh_modules_free(m->modules);
    if (m->places)
        dh_site_builder_free(m->places);
    free(m);
}

/* The module whose places begin at or below the place; of several that do, the one that begins last. */
static const struct dh_meta_module *module_of_place(const struct dh_meta *meta, uint32_t place)
{
    const struct dh_meta_module *best = NULL;
    for (size_t i = 0; i < meta->modules.n; i++) {
        const struct dh_meta_module *at = &meta->modules.at[i];
        if (at->first_place != UINT32_MAX && at->first_place <= place && (!best || at->first_place > best->first_place))
            best = at;
    }
    return best;
}

static void add_place(struct dh_meaning *m, const struct dh_meta_place *p)
{
    const char *letters = dh_op_info(p->op)->letters;
    char *name = dh_format("%s:%s:%s:%s#%u", dh_basename(p->file), p->function, p->variable, letters, p->line);
    const char *dot = strrchr(p->variable, '.');
    struct dh_site row = {.file = dh_site_builder_string(m->places, p->file),
                          .function = dh_site_builder_string(m->places, p->function),
                          .variable = dh_site_builder_string(m->places, p->variable),
                          .field = dh_site_builder_string(m->places, dot ? dot + 1 : ""),
                          .name = dh_site_builder_string(m->places, name),
                          .line = p->line,
                          .inlined = DH_NO_CHAIN,
                          .op = p->op};
    dh_site_builder_add(m->places, &row);
    free(name);
}

static const struct dh_site *place_of_meta(struct dh_meaning *m, uint32_t place, const struct dh_site_table **table)
{
    if (place >= m->meta->places.n)
        return NULL;
    if (!m->places)
        m->places = dh_site_builder_new();
    if (place >= m->n_places) {
        for (; m->n_places < m->meta->places.n; m->n_places++)
            add_place(m, &m->meta->places.at[m->n_places]);
        m->table = dh_site_builder_view(m->places);
    }
    *table = &m->table;
    return &m->table.sites[place];
}

const struct dh_site *dh_meaning_site(struct dh_meaning *m, uint32_t place, const struct dh_site_table **table)
{
    struct dh_world_host of_text = {0};
    if (m->text) {
        dh_text_host(m->text, &of_text);
        return of_text.site(of_text.arg, place, table);
    }
    const struct dh_meta_module *module = module_of_place(m->meta, place);
    if (!module)
        return place_of_meta(m, place, table);
    struct dh_known_module *known = dh_modules_get(m->modules, module->path, module->id);
    const struct dh_site_table *sites = dh_known_sites(known), *chains;
    uint32_t site, chain;
    if (!sites || !dh_place_find(dh_known_places(known), sites, place - module->first_place, &site, &chain, &chains) ||
        site == DH_NO_SITE)
        return NULL;
    *table = sites;
    return &sites->sites[site];
}

static struct dh_data_symbols *variables_of(struct dh_meaning *m, size_t module)
{
    while (m->variables.n <= module)
        dh_vec_push(&m->variables, NULL);
    if (!m->variables.at[module])
        m->variables.at[module] = dh_data_symbols_read(m->meta->modules.at[module].path);
    return m->variables.at[module];
}

static const struct dh_meta_module *module_around(struct dh_meaning *m, uint64_t addr, size_t *index)
{
    for (size_t i = 0; m->meta && i < m->meta->modules.n; i++) {
        const struct dh_meta_module *at = &m->meta->modules.at[i];
        if (addr >= at->low && addr < at->high) {
            *index = i;
            return at;
        }
    }
    return NULL;
}

static bool find_global(struct dh_meaning *m, uint64_t addr, uint64_t *at, uint64_t *size)
{
    struct dh_world_host of_text = {0};
    size_t index;
    if (m->text) {
        dh_text_host(m->text, &of_text);
        return of_text.global(of_text.arg, addr, at, size);
    }
    const struct dh_meta_module *module = module_around(m, addr, &index);
    if (!module || !dh_data_symbols_find(variables_of(m, index), addr - module->load, at, size))
        return false;
    *at += module->load;
    return true;
}

static const struct dh_site *host_site(void *arg, uint32_t place, const struct dh_site_table **table)
{
    return dh_meaning_site(arg, place, table);
}

static bool host_global(void *arg, uint64_t addr, uint64_t *at, uint64_t *size)
{
    return find_global(arg, addr, at, size);
}

void dh_meaning_host(struct dh_meaning *m, struct dh_world_host *host)
{
    host->site = host_site;
    host->global = host_global;
    host->arg = m;
}

char *dh_meaning_name(struct dh_meaning *m, uint64_t addr)
{
    size_t index;
    if (m->text)
        return dh_text_name(m->text, addr);
    const struct dh_meta_module *module = module_around(m, addr, &index);
    return dh_strdup(module ? dh_data_symbols_name(variables_of(m, index), addr - module->load) : "");
}

const struct dh_meta *dh_meaning_meta(const struct dh_meaning *m)
{
    return m->meta;
}
