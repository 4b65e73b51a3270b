#include "classify/racy_variables.h"

#include "base/alloc.h"
#include "base/names.h"
#include "driver/libraries.h"

#include <stdlib.h>
#include <string.h>

/* ---- sites ---- */

static bool is_access(const struct dh_site *s)
{
    enum dh_group g = dh_op_info(s->op)->group;
    return g == DH_GROUP_ACCESS || g == DH_GROUP_ATOMIC || g == DH_GROUP_MEMORY;
}

/* "struct point.x" is a member of "struct point"; so is "config.limit" of "config". */
static bool is_member(const char *variable, const char *whole)
{
    size_t n = strlen(whole);
    return n && strncmp(variable, whole, n) == 0 && (variable[n] == '.' || variable[n] == '[');
}

/* Accesses of the variable itself, and those that copy or set something that it is a part of. */
static bool accesses(const struct dh_site_table *t, const struct dh_site *s, const char *variable)
{
    if (strcmp(dh_site_string(t, s->variable), variable) == 0)
        return true;
    if (dh_op_info(s->op)->group != DH_GROUP_MEMORY)
        return false;
    return strcmp(dh_site_string(t, s->source), variable) == 0 || is_member(variable, dh_site_string(t, s->variable)) ||
           is_member(variable, dh_site_string(t, s->type)) || is_member(variable, dh_site_string(t, s->source)) ||
           is_member(variable, dh_site_string(t, s->source_type));
}

static bool loads(const struct dh_site *s)
{
    return s->op == DH_OP_READ || s->op == DH_OP_ATOMIC_LOAD || s->op == DH_OP_COPY || s->op == DH_OP_MOVE;
}

/* Pointers are written as a whole. */
static bool tears(const struct dh_site *s)
{
    return s->size == 8 && !(s->flags & DH_SITE_POINTER) && dh_op_info(s->op)->group == DH_GROUP_ACCESS;
}

/* ---- marking ---- */

static void mark(struct dh_racy_variable *v, const struct dh_site *s, uint32_t place)
{
    if (v->marks[place])
        return;
    v->marks[place] = DH_ENGINE_STALE | (s->flags & DH_SITE_ELEMENT ? DH_ENGINE_BY_ADDRESS : 0);
    v->tears = v->tears || tears(s);
    v->loads += loads(s);
    v->stores += !loads(s);
}

static unsigned mark_variable(struct dh_racy_variable *v, struct dh_subject *s, const char *name)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < s->start.places; i++) {
        const struct dh_site_table *t;
        const struct dh_site *site = dh_place_names_site(s->places, i, &t);
        if (!site || !is_access(site) || !accesses(t, site, name))
            continue;
        mark(v, site, i);
        n++;
    }
    return n;
}

static unsigned mark_sites(struct dh_racy_variable *v, struct dh_subject *s, const struct dh_finding *f)
{
    uint8_t *marked = dh_xcalloc(s->start.places + 1, 1);
    uint32_t one;
    unsigned n = 0;
    for (size_t i = 0; i < f->accesses.n; i++)
        n += dh_place_names_mark(s->places, f->accesses.at[i].site, marked, &one) != 0;
    for (uint32_t i = 0; i < s->start.places; i++) {
        const struct dh_site_table *t;
        const struct dh_site *site = marked[i] ? dh_place_names_site(s->places, i, &t) : NULL;
        if (site && is_access(site))
            mark(v, site, i);
    }
    free(marked);
    return n;
}

/* ---- pairs ---- */

enum { PAIRS = 8 };

unsigned dh_racy_places_of_site(struct dh_subject *s, const char *site, uint32_t out[DH_RACY_PLACES])
{
    uint8_t *marked = dh_xcalloc(s->start.places + 1, 1);
    uint32_t one;
    unsigned n = 0;
    dh_place_names_mark(s->places, site, marked, &one);
    for (uint32_t i = 0; i < s->start.places && n < DH_RACY_PLACES; i++)
        if (marked[i])
            out[n++] = i;
    free(marked);
    return n;
}

bool dh_racy_place_loads(struct dh_subject *s, uint32_t place)
{
    const struct dh_site_table *t;
    const struct dh_site *site = dh_place_names_site(s->places, place, &t);
    return !site || site->op == DH_OP_READ || site->op == DH_OP_ATOMIC_LOAD;
}

static void add_pairs(struct dh_racy_variable *v, struct dh_subject *s, const struct dh_finding *f)
{
    uint32_t a[DH_RACY_PLACES], b[DH_RACY_PLACES];
    if (f->accesses.n < 2)
        return;
    unsigned n = dh_racy_places_of_site(s, f->accesses.at[0].site, a),
             m = dh_racy_places_of_site(s, f->accesses.at[1].site, b);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < m && v->pairs.n < PAIRS; k++)
            if (!dh_racy_place_loads(s, a[i]) || !dh_racy_place_loads(s, b[k])) {
                struct dh_racy_pair p = {{a[i], b[k]}};
                dh_vec_push(&v->pairs, p);
            }
}

/* ---- variables ---- */

static struct dh_racy_variable *add_variable(struct dh_racy_variables *v, struct dh_subject *s, const char *name,
                                             const char *type)
{
    struct dh_racy_variable new = {.name = dh_strdup(name),
                                   .type = dh_strdup(type),
                                   .also = dh_strdup(""),
                                   .marks = dh_xcalloc(s->start.places + 1, 1)};
    dh_vec_push(&v->at, new);
    return &v->at.at[v->at.n - 1];
}

void dh_racy_variable_release(struct dh_racy_variable *v)
{
    free(v->name);
    free(v->type);
    free(v->also);
    free(v->marks);
    dh_vec_release(&v->pairs);
    dh_vec_release(&v->elements);
    for (size_t i = 0; i < v->sites.n; i++)
        free(v->sites.at[i]);
    dh_vec_release(&v->sites);
    dh_vec_release(&v->findings);
    dh_vec_release(&v->members);
}

static void drop_last(struct dh_racy_variables *v)
{
    dh_racy_variable_release(&v->at.at[--v->at.n]);
}

/* Its name in the site table, which may differ from that in the finding ("grid[3]"). */
static const char *name_in_sites(struct dh_subject *s, const struct dh_finding *f)
{
    uint8_t *marked = dh_xcalloc(s->start.places + 1, 1);
    const char *name = "";
    uint32_t one;
    for (size_t i = 0; i < f->accesses.n && !*name; i++) {
        const struct dh_site_table *t;
        memset(marked, 0, s->start.places);
        if (!dh_place_names_mark(s->places, f->accesses.at[i].site, marked, &one))
            continue;
        const struct dh_site *site = dh_place_names_site(s->places, one, &t);
        if (site && dh_op_info(site->op)->group != DH_GROUP_MEMORY)
            name = dh_site_string(t, site->variable);
    }
    free(marked);
    return name;
}

/* ---- elements of arrays ---- */

static bool has_elements(const struct dh_racy_variable *v, uint32_t places)
{
    for (uint32_t i = 0; i < places; i++)
        if (v->marks[i] & DH_ENGINE_BY_ADDRESS)
            return true;
    return false;
}

static void add_element(struct dh_racy_variable *v, const struct dh_subject *s, struct dh_racy_element *e)
{
    bool known = v->elements.n == DH_ENGINE_ELEMENTS;
    for (size_t i = 0; i < v->elements.n && !known; i++)
        known = v->elements.at[i].block == e->block && v->elements.at[i].offset == e->offset &&
                strcmp(v->elements.at[i].global, e->global) == 0;
    if (known)
        return;
    dh_racy_elements_resolve(e, 1, s->start.variant);
    dh_vec_push(&v->elements, *e);
}

static void add_element_of_finding(struct dh_racy_variable *v, const struct dh_subject *s, const struct dh_finding *f)
{
    struct dh_racy_element e;
    if (has_elements(v, s->start.places) && dh_racy_element_of_finding(f, &e))
        add_element(v, s, &e);
}

/* How many bytes its accesses have. */
static unsigned size_of(const struct dh_racy_variable *v, struct dh_subject *s)
{
    for (uint32_t i = 0; i < s->start.places; i++) {
        const struct dh_site_table *t;
        const struct dh_site *site = v->marks[i] & DH_ENGINE_BY_ADDRESS ? dh_place_names_site(s->places, i, &t) : NULL;
        if (site && site->size)
            return site->size;
    }
    return 1;
}

/* "grid[3][17]" is an element of "grid[][]". */
static bool mark_element(struct dh_racy_variable *v, struct dh_subject *s, const char *name)
{
    struct dh_racy_element e;
    char *array = dh_racy_element_array_name(name);
    bool ok = strcmp(array, name) != 0 && mark_variable(v, s, array);
    free(array);
    if (ok && dh_racy_element_by_name(name, s->program, size_of(v, s), &e))
        add_element(v, s, &e);
    return ok;
}

/* ---- findings ---- */

unsigned dh_racy_variable_add_finding(struct dh_racy_variable *v, struct dh_subject *s, const struct dh_finding *f)
{
    unsigned places = mark_sites(v, s, f);
    if (places) {
        add_pairs(v, s, f);
        add_element_of_finding(v, s, f);
        dh_vec_push(&v->findings, f);
    }
    return places;
}

/* ---- of libraries ---- */

struct library_sites {
    struct dh_racy_variable *v;
    const char *name;
    unsigned tables;
};

static void add_library_sites(void *arg, const struct dh_site_table *t)
{
    struct library_sites *e = arg;
    if (!e->tables++) /* the program's own are places */
        return;
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const struct dh_site *site = &t->sites[i];
        if (!is_access(site) || !accesses(t, site, e->name))
            continue;
        dh_vec_push(&e->v->sites, dh_strdup(dh_site_string(t, site->name)));
        e->v->loads += loads(site);
        e->v->stores += !loads(site);
    }
}

/* Places of libraries are numbered when they are loaded: their sites are known by name. */
static bool find_in_libraries(struct dh_racy_variable *v, const struct dh_subject *s, const char *name)
{
    struct library_sites e = {.v = v, .name = name};
    struct dh_err ignored = {0};
    if (*name)
        dh_site_tables_each(s->program, add_library_sites, &e, &ignored);
    dh_err_release(&ignored);
    return v->sites.n;
}

bool dh_racy_variables_add(struct dh_racy_variables *v, struct dh_subject *s, const struct dh_finding *f)
{
    const char *name = name_in_sites(s, f), *shown = *name ? name : f->variable[0] ? f->variable : f->id;
    struct dh_racy_variable *found = NULL;
    for (size_t i = 0; i < v->at.n && !found; i++)
        if (strcmp(v->at.at[i].name, shown) == 0)
            found = &v->at.at[i];
    bool new = !found;
    if (new)
        found = add_variable(v, s, shown, f->type);
    bool here = *name && new && mark_variable(found, s, name);
    if (dh_racy_variable_add_finding(found, s, f) || here)
        return true;
    if (found->sites.n || (new && find_in_libraries(found, s, f->variable))) {
        dh_vec_push(&found->findings, f);
        return true;
    }
    if (new)
        drop_last(v);
    return false;
}

/* ---- places that runs reveal ---- */

static bool is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ','))
            return true;
    return false;
}

/* If some places are sampled by element, all are. */
static void unify_sampling(struct dh_racy_variable *v, uint32_t places)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < places; i++)
        any |= v->marks[i] & DH_ENGINE_BY_ADDRESS;
    for (uint32_t i = 0; i < places; i++)
        v->marks[i] |= v->marks[i] ? any : 0;
}

unsigned dh_racy_variable_add_places(struct dh_racy_variable *v, struct dh_subject *s, const uint8_t *met)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < s->start.places; i++) {
        const struct dh_site_table *t;
        const struct dh_site *site = met[i] && !v->marks[i] ? dh_place_names_site(s->places, i, &t) : NULL;
        if (!site || !is_access(site))
            continue;
        const char *name = dh_site_string(t, site->variable);
        mark(v, site, i);
        n++;
        if (!*name || strcmp(name, v->name) == 0 || is_listed(v->also, name))
            continue;
        char *longer = dh_format("%s%s%s", v->also, v->also[0] ? ", " : "", name);
        free(v->also);
        v->also = longer;
    }
    unify_sampling(v, s->start.places);
    return n;
}

/* ---- by name ---- */

/* Levenshtein distance. */
static unsigned distance(const char *a, const char *b)
{
    enum { MOST = 64 };
    unsigned row[MOST + 1], n = (unsigned)strlen(b);
    if (n > MOST || strlen(a) > MOST)
        return MOST;
    for (unsigned k = 0; k <= n; k++)
        row[k] = k;
    for (unsigned i = 1; *a; a++, i++) {
        unsigned before = row[0];
        row[0] = i;
        for (unsigned k = 1; k <= n; k++) {
            unsigned old = row[k], same = before + (*a != b[k - 1]);
            unsigned one = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;
            row[k] = same < one ? same : one;
            before = old;
        }
    }
    return row[n];
}

static bool is_near(const char *name, const char *wanted)
{
    const char *dot = strrchr(name, '.');
    unsigned most = 1 + (unsigned)strlen(wanted) / 4;
    return strstr(name, wanted) || distance(name, wanted) <= most || (dot && distance(dot + 1, wanted) <= most);
}

static void list_near(struct dh_subject *s, const char *wanted, struct dh_str *near)
{
    enum { MOST = 8 };
    struct dh_names listed = {0};
    for (uint32_t i = 0; i < s->start.places && listed.of.n < MOST; i++) {
        const struct dh_site_table *t;
        const struct dh_site *site = dh_place_names_site(s->places, i, &t);
        const char *name = site && is_access(site) ? dh_site_string(t, site->variable) : "";
        if (!*name || dh_names_has(&listed, name) || !is_near(name, wanted))
            continue;
        dh_names_add(&listed, name);
        dh_str_addf(near, "%s\n", name);
    }
    dh_names_release(&listed);
}

bool dh_racy_variables_add_by_name(struct dh_racy_variables *v, struct dh_subject *s, const char *name,
                                   struct dh_str *near)
{
    struct dh_racy_variable *new = add_variable(v, s, name, "");
    if (mark_variable(new, s, name) || mark_element(new, s, name) || find_in_libraries(new, s, name))
        return true;
    drop_last(v);
    list_near(s, name, near);
    return false;
}

void dh_racy_variables_release(struct dh_racy_variables *v)
{
    while (v->at.n)
        drop_last(v);
    dh_vec_release(&v->at);
}
