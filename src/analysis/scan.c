#include "analysis/scan.h"

#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Unification first; inclusion is asked where that lost precision. */
static void find_targets(struct dh_scan *s, const struct dh_program *p)
{
    dh_points_to_init(&s->points_to, p);
    s->points_to.andersen = s->andersen = dh_andersen_new(p);
    dh_points_to_run(&s->points_to);
}

static void find_events(struct dh_scan *s, const struct dh_site_table *sites, const struct dh_scan_options *o)
{
    dh_symex_init(&s->symex, &s->points_to);
    s->symex.cache = o->cache;
    s->symex.andersen = s->andersen;
    s->symex.sites = sites;
    dh_symex_run(&s->symex);
}

static void find_races(struct dh_scan *s, const struct dh_scan_options *o)
{
    dh_conflicts_init(&s->conflicts, &s->symex);
    s->conflicts.sequential = o->sequential;
    dh_conflicts_run(&s->conflicts);
}

static void find_inconsistencies(struct dh_scan *s, const struct dh_scan_options *o)
{
    struct dh_consistency_options how = {.wide = o->wide, .neighbours = o->neighbours, .sequential = o->sequential};
    dh_inconsistencies_find(&s->inconsistencies, &s->symex, &how);
}

static double measure(struct dh_scan *s, enum dh_scan_pass pass, double start)
{
    double end = now();
    s->seconds[pass] = end - start;
    return end;
}

void dh_scan_run(struct dh_scan *s, const struct dh_program *p, const struct dh_site_table *sites,
                 const struct dh_scan_options *options)
{
    *s = (struct dh_scan){.program = p};
    double t = now();
    find_targets(s, p);
    t = measure(s, DH_PASS_POINTS_TO, t);
    find_events(s, sites, options);
    t = measure(s, DH_PASS_SYMEX, t);
    find_races(s, options);
    t = measure(s, DH_PASS_RACES, t);
    dh_deadlocks_find(&s->deadlocks, &s->symex);
    t = measure(s, DH_PASS_DEADLOCKS, t);
    find_inconsistencies(s, options);
    measure(s, DH_PASS_CONSISTENCY, t);
}

bool dh_scan_is_complete(const struct dh_scan *s)
{
    return !s->symex.incomplete && !s->deadlocks.incomplete;
}

void dh_scan_release(struct dh_scan *s)
{
    dh_inconsistencies_release(&s->inconsistencies);
    dh_deadlocks_release(&s->deadlocks);
    dh_conflicts_release(&s->conflicts);
    dh_symex_release(&s->symex);
    dh_points_to_release(&s->points_to);
    dh_andersen_free(s->andersen);
}
