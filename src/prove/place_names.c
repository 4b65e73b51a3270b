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

/* The executable, or an instrumented library. */
struct place_module {
    struct dh_known_module *of;
    uint32_t first, count; /* places */
};

struct dh_place_names {
    struct dh_modules *modules;
    DH_VEC(struct place_module) all; /* the executable first */
    struct dh_string_map names;      /* number of a name: the place */
    DH_VEC(char *) others;           /* names of numbers that are none of these places */
};

/* `place` becomes the module's own number. */
static struct dh_known_module *module_of(const struct dh_place_names *p, uint32_t *place)
{
    for (size_t i = 0; i < p->all.n; i++)
        if (*place - p->all.at[i].first < p->all.at[i].count) {
            *place -= p->all.at[i].first;
            return p->all.at[i].of;
        }
    return NULL;
}

static const struct dh_site *site_of(struct dh_known_module *m, uint32_t own, const struct dh_site_table **table)
{
    const struct dh_site_table *chains;
    uint32_t site, chain;
    *table = dh_known_sites(m);
    if (!*table || !dh_place_find(dh_known_places(m), *table, own, &site, &chain, &chains) || site == DH_NO_SITE)
        return NULL;
    return &(*table)->sites[site];
}

const struct dh_site *dh_place_names_site(const struct dh_place_names *p, uint32_t place,
                                          const struct dh_site_table **table)
{
    uint32_t own = place;
    struct dh_known_module *m = module_of(p, &own);
    return m ? site_of(m, own, table) : NULL;
}

void dh_place_names_add_unnamed(struct dh_place_names *p, const char *path, uint32_t first, uint32_t count)
{
    static const uint8_t any[16];
    for (size_t i = 0; i < p->all.n; i++)
        if (p->all.at[i].first == first)
            return;
    struct place_module m = {dh_modules_get(p->modules, path, any), first, count};
    dh_vec_push(&p->all, m);
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

/* Those of a library begin with its name: other modules may have the same source lines. */
static void add_names(struct dh_place_names *p, const struct place_module *m, const char *library)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const struct dh_site_table *t;
        const struct dh_site *s = site_of(m->of, i, &t);
        const char *site = s ? dh_site_string(t, s->name) : "";
        char *name = !*site    ? dh_format(PLACE "%u", m->first + i)
                     : library ? dh_format("%s!%s", library, site)
                               : dh_strdup(site);
        add_name(p, name);
        free(name);
    }
}

static uint32_t places_of(const struct dh_known_module *m)
{
    const struct dh_site_table *sites = dh_known_sites(m);
    return (sites ? sites->n_sites : 0) + dh_known_places(m)->n_places;
}

static uint32_t add_module(struct dh_place_names *p, const char *path, const char *library)
{
    static const uint8_t any[16];
    struct dh_known_module *of = dh_modules_get(p->modules, path, any);
    struct place_module m = {of, p->names.n, places_of(of)};
    dh_vec_push(&p->all, m);
    add_names(p, &m, library);
    return m.count;
}

struct dh_place_names *dh_place_names_new(struct dh_modules *modules, const char *variant)
{
    struct dh_place_names *p = dh_xcalloc(1, sizeof *p);
    p->modules = modules;
    add_module(p, variant, NULL);
    return p;
}

uint32_t dh_place_names_add_library(struct dh_place_names *p, const char *path)
{
    return add_module(p, path, dh_basename(path));
}

void dh_place_names_free(struct dh_place_names *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->others.n; i++)
        free(p->others.at[i]);
    dh_vec_release(&p->others);
    dh_vec_release(&p->all);
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

static void list_writes(const struct dh_site_table *t, const char *site, site_list *out)
{
    for (uint32_t i = 0; t && i < t->n_sites; i++)
        if (t->sites[i].op == DH_OP_WRITE && strcmp(dh_site_string(t, t->sites[i].name), site) == 0)
            dh_vec_push(out, &t->sites[i]);
}

static unsigned mark_module(const struct place_module *m, const char *site, uint8_t *visible, uint32_t *one, unsigned n)
{
    site_list writes = {0};
    list_writes(dh_known_sites(m->of), site, &writes);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct dh_site_table *t;
        const struct dh_site *s = site_of(m->of, i, &t);
        if (!s || (strcmp(dh_site_string(t, s->name), site) != 0 && !is_half_of(s, &writes)))
            continue;
        visible[m->first + i] |= 1;
        if (!n++ || s->op == DH_OP_WRITE)
            *one = m->first + i;
    }
    dh_vec_release(&writes);
    return n;
}

unsigned dh_place_names_mark(const struct dh_place_names *p, const char *site, uint8_t *visible, uint32_t *one)
{
    unsigned n = 0;
    for (size_t i = 0; i < p->all.n; i++)
        if (p->all.at[i].first < p->names.n)
            n = mark_module(&p->all.at[i], site, visible, one, n);
    return n;
}
