#include "analysis/section_candidates.h"

#include "analysis/source_names.h"
#include "base/alloc.h"
#include "event/sections.h"

#include <stdlib.h>
#include <string.h>

/* A section in the making: from one access to all that end it. */
struct draft {
    uint32_t entry; /* row of the site table */
    uint32_t function;
    enum dh_violation_kind kind;
    DH_VEC(struct end {
        uint32_t site;
        uint8_t allow;
    })
    ends;
    DH_VEC(const char *) variables;
};

struct writer {
    const struct dh_symex *symex;
    DH_VEC(struct draft) drafts;
};

/* Where a section may begin or end: an access with a name of its own. Copies have two and are none. */
static const struct dh_site *usable(const struct writer *w, uint32_t event)
{
    const struct dh_site *s = dh_source_site(w->symex, w->symex->events.at[event].inst);
    bool copies = s && (s->op == DH_OP_COPY || s->op == DH_OP_MOVE);
    return s && !copies && dh_site_string(w->symex->sites, s->variable)[0] ? s : NULL;
}

/* What others may do meanwhile without harm (AVIO): between two writes another one, else a read. */
static uint8_t allowed(const struct writer *w, const struct dh_violation *v)
{
    const struct dh_symex_event *e = w->symex->events.at;
    bool writes = e[v->first].kind == DH_SYMEX_WRITE && e[v->second].kind == DH_SYMEX_WRITE;
    return writes ? DH_ALLOW_WRITE : DH_ALLOW_READ;
}

static struct draft *draft_at(struct writer *w, uint32_t entry, const struct dh_violation *v)
{
    for (size_t n = 0; n < w->drafts.n; n++)
        if (w->drafts.at[n].entry == entry)
            return &w->drafts.at[n];
    dh_vec_push(&w->drafts, ((struct draft){.entry = entry, .function = v->function, .kind = v->kind}));
    return &w->drafts.at[w->drafts.n - 1];
}

static void add_variable(struct draft *d, const char *name)
{
    for (size_t n = 0; n < d->variables.n; n++)
        if (strcmp(d->variables.at[n], name) == 0)
            return;
    dh_vec_push(&d->variables, name);
}

static void add_end(struct draft *d, uint32_t site, uint8_t allow)
{
    for (size_t n = 0; n < d->ends.n; n++)
        if (d->ends.at[n].site == site) {
            d->ends.at[n].allow &= allow;
            return;
        }
    dh_vec_push(&d->ends, ((struct end){site, allow}));
}

static void add_section(struct writer *w, const struct dh_violation *v)
{
    const struct dh_site_table *t = w->symex->sites;
    const struct dh_site *first = usable(w, v->first), *second = usable(w, v->second);
    /* Round a loop, or each in a critical section of its own: steps that are finished for themselves. */
    bool again = v->kind == DH_VIOLATION_NEIGHBOURS && (first == second || v->locked);
    if (!first || !second || again || v->kind == DH_VIOLATION_SPLIT)
        return;
    struct draft *d = draft_at(w, (uint32_t)(first - t->sites), v);
    /* What is suspected says more than what only follows. */
    if (v->kind == DH_VIOLATION_NEIGHBOURS && d->kind != DH_VIOLATION_NEIGHBOURS)
        return;
    add_variable(d, dh_site_string(t, first->variable));
    add_variable(d, dh_site_string(t, second->variable));
    add_end(d, (uint32_t)(second - t->sites), allowed(w, v));
}

/* ---- text ---- */

static const char *pattern(enum dh_violation_kind kind)
{
    static const char *const names[] = {
        [DH_VIOLATION_LOST_UPDATE] = "load-and-store",   [DH_VIOLATION_CHECK_THEN_SET] = "test-and-set",
        [DH_VIOLATION_CHECK_THEN_USE] = "test-and-use",  [DH_VIOLATION_UNREPEATABLE_READ] = "read-and-compare",
        [DH_VIOLATION_CHECK_THEN_ACT] = "check-and-act", [DH_VIOLATION_TORN_READ] = "read-and-look",
        [DH_VIOLATION_SPLIT] = "two-sections",           [DH_VIOLATION_NEIGHBOURS] = "neighbours",
    };
    return names[kind];
}

static void put(void *arg, const char *text, size_t n)
{
    dh_str_add_n(arg, text, n);
}

static void print(const struct writer *w, size_t number, struct dh_str *out)
{
    const struct draft *d = &w->drafts.at[number];
    const struct dh_site_table *t = w->symex->sites;
    const struct dh_site *entry = &t->sites[d->entry];
    char *name = dh_format("%s-%zu", pattern(d->kind), number + 1);
    struct dh_section section = {.name = name};
    size_t n_points = d->ends.n + 1;
    struct dh_section_point *points = dh_xcalloc(n_points, sizeof *points);
    struct dh_section_variable *variables = dh_xcalloc(d->variables.n, sizeof *variables);
    const char **sites = dh_xcalloc(n_points, sizeof *sites);
    sites[0] = dh_site_string(t, entry->name);
    points[0] = (struct dh_section_point){.role = DH_SECTION_ENTRY};
    for (uint32_t n = 0; n < d->ends.n; n++) {
        sites[n + 1] = dh_site_string(t, t->sites[d->ends.at[n].site].name);
        points[n + 1] = (struct dh_section_point){.site = n + 1, .role = DH_SECTION_END, .allow = d->ends.at[n].allow};
    }
    for (uint32_t n = 0; n < d->variables.n; n++)
        variables[n].variable = n;
    const struct dh_sections one = {.sections = &section,
                                    .n_sections = 1,
                                    .points = points,
                                    .n_points = (uint32_t)n_points,
                                    .variables = variables,
                                    .n_variables = (uint32_t)d->variables.n,
                                    .sites = sites,
                                    .n_sites = (uint32_t)n_points,
                                    .names = d->variables.at,
                                    .n_names = (uint32_t)d->variables.n};
    dh_str_addf(out, "\n# %s, %s:%u\n", dh_source_function(w->symex->program, d->function),
                dh_basename(dh_site_string(t, entry->file)), entry->line);
    dh_sections_print(&one, put, out);
    free(points);
    free(variables);
    free(sites);
    free(name);
}

unsigned dh_section_candidates_print(struct dh_str *out, const struct dh_symex *symex,
                                     const struct dh_inconsistencies *c)
{
    struct writer w = {.symex = symex};
    for (size_t i = 0; i < c->found.n; i++)
        add_section(&w, &c->found.at[i]);
    for (size_t i = 0; i < c->neighbours.n; i++)
        add_section(&w, &c->neighbours.at[i]);
    for (size_t i = 0; i < w.drafts.n; i++)
        print(&w, i, out);
    unsigned n = (unsigned)w.drafts.n;
    for (size_t i = 0; i < w.drafts.n; i++) {
        dh_vec_release(&w.drafts.at[i].ends);
        dh_vec_release(&w.drafts.at[i].variables);
    }
    dh_vec_release(&w.drafts);
    return n;
}
