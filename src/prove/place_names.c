#include "prove/place_names.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE "place "

struct dh_place_names {
    struct dh_modules *modules;
    struct dh_known_module *module;
    struct dh_known_module *libraries[DH_ENGINE_LIBRARIES]; /* NULL: not known */
    const struct dh_site_table *sites;
    struct dh_string_map names; /* number of a name: the place */
    DH_VEC(char *) others;      /* names of numbers that are no places of the variant */
};

/* `place` becomes the module's own number. */
static struct dh_known_module *module_of(const struct dh_place_names *p, uint32_t *place)
{
    if (*place < DH_PLACES_OF_EXECUTABLE)
        return p->module;
    uint32_t n = (*place - DH_PLACES_OF_EXECUTABLE) / DH_PLACES_OF_LIBRARY;
    *place = (*place - DH_PLACES_OF_EXECUTABLE) % DH_PLACES_OF_LIBRARY;
    return n < DH_ENGINE_LIBRARIES ? p->libraries[n] : NULL;
}

const struct dh_site *dh_place_names_site(const struct dh_place_names *p, uint32_t place,
                                          const struct dh_site_table **table)
{
    const struct dh_site_table *chains;
    uint32_t site, chain, own = place;
    struct dh_known_module *m = module_of(p, &own);
    *table = m ? dh_known_sites(m) : p->sites;
    if (!m || !dh_known_sites(m) || !dh_place_find(dh_known_places(m), *table, own, &site, &chain, &chains) ||
        site == DH_NO_SITE)
        return NULL;
    return &(*table)->sites[site];
}

void dh_place_names_library(struct dh_place_names *p, uint32_t n, const char *path)
{
    static const uint8_t any[16];
    if (n < DH_ENGINE_LIBRARIES && !p->libraries[n])
        p->libraries[n] = dh_modules_get(p->modules, path, any);
}

static void add_name(struct dh_place_names *p, const char *site)
{
    char *name = dh_strdup(site);
    for (unsigned k = 2; dh_string_map_find(&p->names, name); k++) {
        free(name);
        name = dh_format("%s@%u", site, k);
    }
    dh_string_map_number(&p->names, name);
    free(name);
}

struct dh_place_names *dh_place_names_new(struct dh_modules *modules, const char *variant)
{
    static const uint8_t any[16];
    struct dh_known_module *m = dh_modules_get(modules, variant, any);
    if (!dh_known_sites(m))
        return NULL;
    struct dh_place_names *p = dh_xcalloc(1, sizeof *p);
    p->modules = modules;
    p->module = m;
    p->sites = dh_known_sites(m);
    uint32_t n = p->sites->n_sites + dh_known_places(m)->n_places;
    for (uint32_t i = 0; i < n; i++) {
        const struct dh_site_table *t;
        const struct dh_site *s = dh_place_names_site(p, i, &t);
        char *number = dh_format(PLACE "%u", i);
        add_name(p, s && *dh_site_string(t, s->name) ? dh_site_string(t, s->name) : number);
        free(number);
    }
    return p;
}

void dh_place_names_free(struct dh_place_names *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->others.n; i++)
        free(p->others.at[i]);
    dh_vec_release(&p->others);
    dh_string_map_release(&p->names);
    free(p);
}

uint32_t dh_place_names_count(const struct dh_place_names *p)
{
    return p->names.n;
}

const char *dh_place_names_name(struct dh_place_names *p, uint32_t place)
{
    if (place < p->names.n)
        return p->names.at[place].key;
    if (place == UINT32_MAX)
        return "?";
    char *name = dh_format(PLACE "%u", place);
    for (size_t i = 0; i < p->others.n; i++)
        if (strcmp(p->others.at[i], name) == 0) {
            free(name);
            return p->others.at[i];
        }
    dh_vec_push(&p->others, name);
    return name;
}

bool dh_place_names_find(struct dh_place_names *p, const char *name, uint32_t *place)
{
    uint32_t found = dh_string_map_seek(&p->names, name);
    char rest;
    if (found != DH_ABSENT) {
        *place = found;
        return true;
    }
    if (strcmp(name, "?") == 0) {
        *place = UINT32_MAX;
        return true;
    }
    return sscanf(name, PLACE "%u%c", place, &rest) == 1;
}

/* As in finding/resolve.c: both halves of an update have the name of the write. */
static bool is_reading_half(const struct dh_site *r, const struct dh_site *w)
{
    return r->op == DH_OP_READ && w->op == DH_OP_WRITE && r->line && r->line == w->line && r->column == w->column &&
           r->file == w->file && r->function == w->function && r->variable == w->variable;
}

typedef DH_VEC(const struct dh_site *) site_list;

static bool is_half_of(const struct dh_site *s, const site_list *writes)
{
    for (size_t i = 0; i < writes->n; i++)
        if (is_reading_half(s, writes->at[i]))
            return true;
    return false;
}

unsigned dh_place_names_mark(const struct dh_place_names *p, const char *site, uint8_t *visible, uint32_t *one)
{
    unsigned n = 0;
    site_list writes = {0};
    for (uint32_t i = 0; i < p->sites->n_sites; i++)
        if (p->sites->sites[i].op == DH_OP_WRITE &&
            strcmp(dh_site_string(p->sites, p->sites->sites[i].name), site) == 0)
            dh_vec_push(&writes, &p->sites->sites[i]);
    for (uint32_t i = 0; i < p->names.n; i++) {
        const struct dh_site_table *t;
        const struct dh_site *s = dh_place_names_site(p, i, &t);
        if (!s || (strcmp(dh_site_string(t, s->name), site) != 0 && !is_half_of(s, &writes)))
            continue;
        visible[i] |= 1;
        if (!n++ || s->op == DH_OP_WRITE)
            *one = i;
    }
    dh_vec_release(&writes);
    return n;
}
