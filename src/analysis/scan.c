#include "analysis/scan.h"

#include <time.h>

/* By when each pass must be over, in percent of the time: what the first ones leave is for the others. */
static const struct {
    const char *doing;
    unsigned until;
} passes[DH_PASSES] = {[DH_PASS_POINTS_TO] = {"what pointers lead to", 30},
                       [DH_PASS_SYMEX] = {"following every thread", 60},
                       [DH_PASS_RACES] = {"comparing accesses", 80},
                       [DH_PASS_DEADLOCKS] = {"comparing orders of locks", 85},
                       [DH_PASS_CONSISTENCY] = {"looking for steps that others can come between", 100}};

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
    s->symex.limit = &s->limit;
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

/* Begins the next pass, after the one that ended. */
struct clock {
    const struct dh_scan_options *options;
    uint64_t began_ns;
    double cpu;
};

static void enter(struct dh_scan *s, struct clock *c, enum dh_scan_pass pass)
{
    uint64_t end = c->options->until_ns, all = end > c->began_ns ? end - c->began_ns : 0;
    dh_time_limit_set(&s->limit, end ? c->began_ns + all * passes[pass].until / 100 : 0);
    if (c->options->entered)
        c->options->entered(passes[pass].doing);
    c->cpu = now();
}

static void leave(struct dh_scan *s, const struct clock *c, enum dh_scan_pass pass)
{
    s->seconds[pass] = now() - c->cpu;
    s->cut[pass] = s->limit.was_over;
}

void dh_scan_run(struct dh_scan *s, const struct dh_program *p, const struct dh_site_table *sites,
                 const struct dh_scan_options *options)
{
    struct clock c = {.options = options, .began_ns = dh_time_limit_now()};
    *s = (struct dh_scan){.program = p};
    enter(s, &c, DH_PASS_POINTS_TO);
    find_targets(s, p);
    leave(s, &c, DH_PASS_POINTS_TO);
    enter(s, &c, DH_PASS_SYMEX);
    find_events(s, sites, options);
    leave(s, &c, DH_PASS_SYMEX);
    enter(s, &c, DH_PASS_RACES);
    find_races(s, options);
    leave(s, &c, DH_PASS_RACES);
    enter(s, &c, DH_PASS_DEADLOCKS);
    dh_deadlocks_find(&s->deadlocks, &s->symex);
    leave(s, &c, DH_PASS_DEADLOCKS);
    enter(s, &c, DH_PASS_CONSISTENCY);
    find_inconsistencies(s, options);
    leave(s, &c, DH_PASS_CONSISTENCY);
}

static void add_left(struct dh_str *out, const char *what, uint32_t left, uint32_t of)
{
    dh_str_addf(out, "%s%s", out->n ? ", " : "", what);
    if (left)
        dh_str_addf(out, " of %u of %u", left, of);
}

void dh_scan_print_left(const struct dh_scan *s, struct dh_str *out)
{
    struct dh_str words = {0};
    const struct dh_inconsistencies *i = &s->inconsistencies;
    if (s->cut[DH_PASS_SYMEX]) {
        add_left(&words, "some paths", 0, 0);
        if (s->symex.n_threads_left)
            add_left(&words, "all paths", s->symex.n_threads_left, (uint32_t)s->symex.threads.n);
        if (s->symex.n_threads_left)
            dh_str_add(&words, " threads");
    }
    if (s->cut[DH_PASS_RACES]) {
        add_left(&words, "accesses", s->conflicts.n_objects_left, s->conflicts.n_objects);
        dh_str_add(&words, s->conflicts.n_objects_left ? " objects" : " of an object");
    }
    if (s->cut[DH_PASS_DEADLOCKS])
        add_left(&words, "orders of locks", 0, 0);
    if (s->cut[DH_PASS_CONSISTENCY]) {
        add_left(&words, "atomicity", i->n_bodies_left, i->n_bodies);
        dh_str_add(&words, i->n_bodies_left ? " functions" : " of some functions");
    }
    if (words.n)
        dh_str_addf(out, "not looked at for lack of time: %s", words.at);
    dh_str_release(&words);
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
