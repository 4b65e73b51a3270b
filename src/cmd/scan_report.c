#include "cmd/scan_report.h"

#include "analysis/deadlock.h"
#include "analysis/heuristics.h"
#include "analysis/method_consistency.h"
#include "analysis/points_to_andersen.h"
#include "analysis/races.h"
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/scan_alike.h"
#include "cmd/scan_classes.h"
#include "cmd/scan_findings.h"
#include "cmd/scan_measures.h"
#include "cmd/scan_reasons.h"
#include "cmd/scan_sections.h"
#include "finding/store.h"
#include "finding/suppress.h"
#include "report/json.h"
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ALIKE = 4 };

/* Suspicions of one kind about one variable are one report. */
struct alike {
    uint32_t first;       /* finding */
    uint32_t kept, pairs; /* of the first one: how many findings, how many pairs of places there are */
};

/* What a finding was made from. */
struct origin {
    enum { FROM_CONFLICT, FROM_DEADLOCK, FROM_VIOLATION } kind;
    uint32_t index;
};

struct scan {
    struct dh_whole_program *whole;
    const struct dh_scan_wishes *wishes;
    struct dh_shapes shapes;
    struct dh_inclusion *inclusion;
    struct dh_walk walk;
    struct dh_conflicts conflicts;
    struct dh_deadlocks deadlocks;
    struct dh_inconsistencies inconsistencies;
    struct dh_scan_names names;
    struct dh_suppressions suppressions;
    DH_VEC(struct dh_finding) findings;
    DH_VEC(struct origin) origin; /* of each finding */
    DH_VEC(struct alike) alike;   /* of each finding */
    uint32_t *variables;          /* first findings by variable: a hash table, 0 = free */
    size_t n_variables, n_reports;
    struct {
        uint64_t *at;
        size_t n;
    } ids; /* of findings, told or not: a hash table, 0 = free */
    size_t n_ids;
    unsigned suppressed, more;
    double seconds[5];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enum dh_cache read_cache(const char *name)
{
    static const char *const names[] = {"normal", "best", "worst", "none", "unclipped"};
    unsigned n = 0;
    while (n < sizeof names / sizeof *names && strcmp(names[n], name) != 0)
        n++;
    return n < sizeof names / sizeof *names ? (enum dh_cache)n : DH_CACHE_NORMAL;
}

static void analyse(struct scan *s)
{
    double start = now();
    dh_shapes_init(&s->shapes, &s->whole->program);
    s->shapes.inclusion = s->inclusion = dh_inclusion_new(&s->whole->program);
    dh_shapes_run(&s->shapes);
    s->seconds[0] = now() - start;
    dh_walk_init(&s->walk, &s->shapes);
    s->walk.cache = read_cache(s->wishes->cache);
    s->walk.inclusion = s->inclusion;
    s->walk.alike = dh_scan_alike;
    s->walk.name = dh_scan_name;
    s->walk.full_name = dh_scan_full_name;
    s->walk.alike_self = s->whole;
    dh_walk_run(&s->walk);
    s->seconds[1] = now() - start - s->seconds[0];
    dh_conflicts_init(&s->conflicts, &s->walk);
    s->conflicts.sequential = s->wishes->sequential;
    dh_conflicts_run(&s->conflicts);
    s->seconds[2] = now() - start - s->seconds[0] - s->seconds[1];
    dh_deadlocks_find(&s->deadlocks, &s->walk);
    s->seconds[3] = now() - start - s->seconds[0] - s->seconds[1] - s->seconds[2];
    double before = now();
    struct dh_consistency_wishes how = {.wide = s->wishes->wide,
                                        .neighbours = s->wishes->sections,
                                        .sequential = s->wishes->sequential,
                                        .differ = dh_scan_differ,
                                        .self = &s->names};
    dh_inconsistencies_find(&s->inconsistencies, &s->walk, &how);
    s->seconds[4] = now() - before;
}

static void release(struct scan *s)
{
    for (size_t i = 0; i < s->findings.n; i++)
        dh_finding_release(&s->findings.at[i]);
    dh_vec_release(&s->findings);
    dh_vec_release(&s->origin);
    dh_vec_release(&s->alike);
    free(s->variables);
    free(s->ids.at);
    dh_suppressions_release(&s->suppressions);
    dh_inconsistencies_release(&s->inconsistencies);
    dh_deadlocks_release(&s->deadlocks);
    dh_conflicts_release(&s->conflicts);
    dh_walk_release(&s->walk);
    dh_shapes_release(&s->shapes);
    dh_inclusion_free(s->inclusion);
}

/* ---- findings ---- */
static uint64_t *slot_of(struct scan *s, uint64_t key)
{
    for (size_t i = key & (s->ids.n - 1);; i = (i + 1) & (s->ids.n - 1))
        if (!s->ids.at[i] || s->ids.at[i] == key)
            return &s->ids.at[i];
}

/* Whether there is one of that id; remembers it. Ids are hashes already. */
static bool is_known(struct scan *s, const char *id)
{
    uint64_t key = strtoull(id, NULL, 16);
    if (2 * s->n_ids >= s->ids.n) {
        uint64_t *old = s->ids.at;
        size_t n = s->ids.n;
        s->ids.at = calloc(n ? 2 * n : 1024, sizeof *s->ids.at);
        if (!s->ids.at)
            abort();
        s->ids.n = n ? 2 * n : 1024;
        for (size_t i = 0; i < n; i++)
            if (old[i])
                *slot_of(s, old[i]) = old[i];
        free(old);
    }
    uint64_t *slot = slot_of(s, key);
    bool known = *slot;
    s->n_ids += !known;
    *slot = key;
    return known;
}

/* What a report is about; without a name it is the place. */
static const char *subject(const struct dh_finding *f)
{
    return f->variable[0] || !f->accesses.n ? f->variable : f->accesses.at[0].site;
}

static uint32_t *variable_slot(struct scan *s, const struct dh_finding *f)
{
    uint64_t h = 14695981039346656037u;
    for (const char *c = f->kind; *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    for (const char *c = subject(f); *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    for (size_t i = h & (s->n_variables - 1);; i = (i + 1) & (s->n_variables - 1)) {
        const struct dh_finding *g = s->variables[i] ? &s->findings.at[s->variables[i] - 1] : NULL;
        if (!g || (strcmp(subject(g), subject(f)) == 0 && strcmp(g->kind, f->kind) == 0))
            return &s->variables[i];
    }
}

static void grow_variables(struct scan *s)
{
    free(s->variables);
    s->n_variables = s->n_variables ? 2 * s->n_variables : 1024;
    s->variables = calloc(s->n_variables, sizeof *s->variables);
    if (!s->variables)
        abort();
    for (uint32_t i = 0; i < s->findings.n; i++)
        if (s->alike.at[i].first == i)
            *variable_slot(s, &s->findings.at[i]) = i + 1;
}

/* Pairs of places on one variable beyond the first few say no more. */
static bool is_one_more(struct scan *s, const struct dh_finding *f, struct alike *a)
{
    if (2 * s->n_reports >= s->n_variables)
        grow_variables(s);
    uint32_t *slot = variable_slot(s, f);
    *a = (struct alike){(uint32_t)s->findings.n, 1, 1};
    if (!*slot) {
        *slot = (uint32_t)s->findings.n + 1;
        s->n_reports++;
        return false;
    }
    struct alike *first = &s->alike.at[*slot - 1];
    first->pairs++;
    a->first = *slot - 1;
    bool more = first->kept == MOST_ALIKE && !s->wishes->all;
    first->kept += !more;
    return more;
}

static void keep(struct scan *s, struct dh_finding *f, struct origin from)
{
    bool fresh = dh_scan_is_told(f) && !is_known(s, f->id);
    bool quiet = fresh && dh_suppressions_find(&s->suppressions, f);
    struct alike alike;
    bool wanted = fresh && !quiet, more = wanted && is_one_more(s, f, &alike);
    s->suppressed += quiet;
    s->more += more;
    if (!wanted || more) {
        dh_finding_release(f);
        return;
    }
    dh_vec_push(&s->findings, *f);
    dh_vec_push(&s->origin, from);
    dh_vec_push(&s->alike, alike);
}

/* The race that lets others know the object before it is ready (003 §4.6), NULL: none does. */
static char *escape_text(const struct scan *s, const struct dh_conflict *c)
{
    if (c->cause == DH_NONE)
        return NULL;
    const struct dh_conflict *by = &s->conflicts.found.at[c->cause];
    struct dh_finding f;
    dh_scan_race(&s->names, by->first, by->second, "", &f);
    const struct dh_finding_frame *a = f.accesses.at[0].stack.frames.at, *b = f.accesses.at[1].stack.frames.at;
    char *text = dh_format("the object escapes through %s, on which there is a race itself (%s:%u and %s:%u)",
                           f.variable[0] ? f.variable : "a pointer", dh_basename(a->file), a->line,
                           dh_basename(b->file), b->line);
    dh_finding_release(&f);
    return text;
}

static void gather_races(struct scan *s)
{
    struct dh_finding f;
    for (uint32_t i = 0; i < s->conflicts.found.n; i++) {
        const struct dh_conflict *c = &s->conflicts.found.at[i];
        char *escape = escape_text(s, c);
        char *text = dh_format("nothing orders these accesses (%s)%s%s", dh_conflict_class_name(c->class),
                               escape ? "; " : "", escape ? escape : "");
        dh_scan_race(&s->names, c->first, c->second, text, &f);
        free(text);
        free(escape);
        keep(s, &f, (struct origin){FROM_CONFLICT, i});
    }
}

static void gather(struct scan *s)
{
    struct dh_finding f;
    gather_races(s);
    for (uint32_t i = 0; i < s->deadlocks.all.n; i++) {
        dh_scan_deadlock(&s->names, &s->deadlocks.all.at[i], &f);
        keep(s, &f, (struct origin){FROM_DEADLOCK, i});
    }
    for (uint32_t i = 0; i < s->inconsistencies.found.n; i++) {
        dh_scan_violation(&s->names, &s->inconsistencies.found.at[i], &f);
        keep(s, &f, (struct origin){FROM_VIOLATION, i});
    }
}

static bool store(struct scan *s, struct dh_err *err)
{
    struct dh_store_run run = {.program = s->wishes->program, .arguments = "scan", .started = time(NULL)};
    long long id;
    if (!s->wishes->db || !s->findings.n)
        return true;
    struct dh_store *db = dh_store_open(s->wishes->db, DH_STORE_WRITE, err);
    bool ok = db && dh_store_begin(db, &run, &id, err);
    for (size_t i = 0; ok && i < s->findings.n; i++) {
        s->findings.at[i].first_seen = s->findings.at[i].last_seen = run.started;
        ok = dh_store_add(db, id, &s->findings.at[i], err);
    }
    ok = ok && dh_store_commit(db, err);
    dh_store_close(db);
    return ok;
}

/* ---- telling ---- */
static bool is_complete(const struct scan *s)
{
    return !s->walk.incomplete && !s->deadlocks.incomplete;
}

static void tell_limits(const struct scan *s)
{
    const struct dh_program *p = &s->whole->program;
    for (int i = 0; i < DH_LIMIT_COUNT; i++)
        if (p->limits[i])
            printf("  %-44s %u\n", dh_limit_text((enum dh_limit)i), p->limits[i]);
    for (size_t i = 0; i < p->foreign.n; i++)
        printf("%s%s%s", i ? ", " : "  unknown functions: ", dh_program_string(p, p->foreign.at[i]),
               i + 1 == p->foreign.n ? "\n" : "");
    if (s->shapes.n_unresolved)
        printf("  %-44s %u of %u\n", "calls through pointers without a target", s->shapes.n_unresolved,
               s->shapes.n_indirect);
    if (s->walk.n_merged)
        printf("  %-44s %u\n", "functions with too many contexts to tell apart", s->walk.n_merged);
    if (dh_inclusion_gave_up(s->inclusion))
        printf("  the budget was used up: what was united is not told apart by what pointers lead to\n");
    if (s->shapes.coarse)
        printf("  the budget was used up: calling contexts are not told apart\n");
    if (!s->walk.threads.n)
        printf("  there is no main, so nothing runs (--library: whatever is exported may)\n");
    if (s->inconsistencies.incomplete)
        printf("  large functions: not every step was looked at for atomicity\n");
    if (!is_complete(s))
        printf("  the budget was used up: not every path was looked at\n");
}

static void tell_statistics(const struct scan *s)
{
    const struct dh_program *p = &s->whole->program;
    printf("%zu functions, %zu instructions, %zu abstract threads, %zu events, %llu pairs\n", p->functions.n,
           p->insts.n, s->walk.threads.n, s->walk.events.n, (unsigned long long)s->conflicts.pairs);
    printf("pointers %.2f s, walk %.2f s, pairs %.2f s, deadlocks %.2f s, consistency %.2f s\n", s->seconds[0],
           s->seconds[1], s->seconds[2], s->seconds[3], s->seconds[4]);
    printf("%llu critical sections, %llu steps on what others write, %llu of them relied on\n",
           (unsigned long long)s->inconsistencies.n_views, (unsigned long long)s->inconsistencies.n_steps,
           (unsigned long long)s->inconsistencies.n_pairs);
    for (size_t i = 0; i < s->walk.threads.n; i++)
        printf("  T%zu %s%s\n", i, dh_scan_thread_name(&s->names, (uint32_t)i),
               s->walk.threads.at[i].unique ? "" : ", any number of them");
    for (int i = 0; i < DH_ARGUMENT_COUNT; i++)
        if (s->conflicts.by_argument[i])
            printf("  %10llu  %s\n", (unsigned long long)s->conflicts.by_argument[i],
                   dh_argument_text((enum dh_argument)i));
}

/* One report for each variable, with the pair that was found first: those with the fewest locks come first. */
static void tell_text(const struct scan *s)
{
    struct dh_str out = {0};
    for (size_t i = 0; i < s->findings.n; i++) {
        const struct alike *a = &s->alike.at[i];
        if (a->first != i && !s->wishes->all)
            continue;
        dh_text_finding(&out, &s->findings.at[i]);
        dh_str_addf(&out, "Finding %s\n", s->findings.at[i].id);
        if (a->pairs > 1 && !s->wishes->all)
            dh_str_addf(&out, "  and %u more pair%s of places (--all)\n", a->pairs - 1, a->pairs == 2 ? "" : "s");
        dh_str_add(&out, "\n");
    }
    if (out.n)
        fwrite(out.at, 1, out.n, stdout);
    dh_str_release(&out);
    size_t told = s->wishes->all ? s->findings.n : s->n_reports;
    printf("%zu suspicion%s", told, told == 1 ? "" : "s");
    if (s->suppressed)
        printf(", %u suppressed", s->suppressed);
    size_t more = s->findings.n + s->more - told;
    if (more)
        printf("; %zu more pair%s of places on the same variables (--all)", more, more == 1 ? "" : "s");
    printf("\n");
    if (s->wishes->statistics)
        tell_statistics(s);
    tell_limits(s);
}

static void tell_json(const struct scan *s)
{
    const struct dh_program *p = &s->whole->program;
    struct dh_str out = {0};
    for (size_t i = 0; i < s->findings.n; i++) {
        dh_str_add(&out, i ? ",\n" : "\n");
        dh_report_json(&out, &s->findings.at[i]);
    }
    printf("{\"version\":1,\"findings\":[%s\n],\n\"scan\":{\"functions\":%zu,\"instructions\":%zu,\"threads\":%zu,"
           "\"seconds\":[%.3f,%.3f,%.3f,%.3f,%.3f],\"complete\":%s,\"suppressed\":%u,\"more\":%u,\"limits\":{",
           out.at ? out.at : "", p->functions.n, p->insts.n, s->walk.threads.n, s->seconds[0], s->seconds[1],
           s->seconds[2], s->seconds[3], s->seconds[4], !is_complete(s) || s->shapes.coarse ? "false" : "true",
           s->suppressed, s->more);
    bool first = true;
    for (int i = 0; i < DH_LIMIT_COUNT; i++)
        if (p->limits[i]) {
            printf("%s\"%s\":%u", first ? "" : ",", dh_limit_text((enum dh_limit)i), p->limits[i]);
            first = false;
        }
    printf("}");
    if (s->wishes->statistics) {
        dh_str_clear(&out);
        dh_scan_measures(&out, &s->conflicts);
        printf(",\"measures\":%s,\"views\":{\"sections\":%llu,\"functions\":%u}", out.at,
               (unsigned long long)s->inconsistencies.n_views, s->inconsistencies.n_functions);
        dh_str_clear(&out);
        dh_scan_classes(&out, &s->conflicts);
        printf(",\"classes\":%s", out.at);
    }
    printf("}}\n");
    dh_str_release(&out);
}

static void tell_reason(const struct scan *s, enum dh_argument argument, uint32_t one, uint32_t other)
{
    char *why = dh_scan_reason(&s->names, argument, one, other);
    printf("  - %s: no, %s\n", dh_argument_text(argument), why);
    free(why);
}

/* Every argument that was tried, in their order: for a suspicion none of them holds. */
static void tell_why_race(const struct scan *s, const struct dh_conflict *c)
{
    printf("It would be no race if one of these were so, and none is, as far as can be told without running:\n");
    for (int i = 0; i < DH_ARGUMENT_COUNT; i++)
        tell_reason(s, (enum dh_argument)i, c->first, c->second);
    char *escape = escape_text(s, c);
    if (escape)
        printf("%s\n", escape);
    free(escape);
}

/* What would keep the write away from the two steps. */
static void tell_why_atomicity(const struct scan *s, const struct dh_violation *v)
{
    static const enum dh_argument tried[] = {DH_ARGUMENT_ONE_THREAD, DH_ARGUMENT_FRESH, DH_ARGUMENT_START,
                                             DH_ARGUMENT_JOIN,       DH_ARGUMENT_OWN,   DH_ARGUMENT_BARRIER};
    printf(
        "It would be no violation if one of these were so for the first access and the one in between, and none is,\n"
        "as far as can be told without running:\n");
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        tell_reason(s, tried[i], v->first, v->between);
    printf("  - a lock that the one in between needs is held from the first access to the last: no, %s\n",
           v->locked ? "each is in a critical section, but not in one" : "at one of them there is none");
}

static void tell_why(const struct scan *s, size_t finding)
{
    struct dh_str out = {0};
    dh_text_finding(&out, &s->findings.at[finding]);
    fwrite(out.at, 1, out.n, stdout);
    dh_str_release(&out);
    uint32_t at = s->origin.at[finding].index;
    if (s->origin.at[finding].kind == FROM_CONFLICT)
        tell_why_race(s, &s->conflicts.found.at[at]);
    else if (s->origin.at[finding].kind == FROM_VIOLATION)
        tell_why_atomicity(s, &s->inconsistencies.found.at[at]);
}

/* ---- what was decided at one place ---- */
static bool is_at(const struct scan *s, uint32_t event, const char *file, size_t n, unsigned line)
{
    const struct dh_program *p = &s->whole->program;
    const struct dh_place *at = &p->places.at[p->insts.at[s->walk.events.at[event].inst].place];
    const char *name = dh_basename(dh_program_string(p, at->file));
    return at->line == line && strlen(name) == n && strncmp(name, file, n) == 0;
}

static void tell_event(const struct scan *s, const char *before, uint32_t event, const char *behind)
{
    const struct dh_program *p = &s->whole->program;
    const struct dh_event *e = &s->walk.events.at[event];
    const struct dh_place *at = &p->places.at[p->insts.at[e->inst].place];
    printf("%s%s by T%u at %s:%u in %s, %u locks%s\n", before, e->kind == DH_EVENT_WRITE ? "write" : "read", e->thread,
           dh_basename(dh_program_string(p, at->file)), at->line, dh_program_string(p, at->function),
           s->walk.locksets.at[e->lockset].n, behind);
}

/* Every other access of the object that may be another thread's, and why the two do not race. */
static void tell_decisions(struct scan *s, struct dh_customs *c, uint32_t event)
{
    const struct dh_event *e = &s->walk.events.at[event];
    tell_event(s, "", event, "");
    for (uint32_t k = 0; k < s->walk.events.n; k++) {
        const struct dh_event *other = &s->walk.events.at[k];
        if (other->node != e->node || other->kind > DH_EVENT_WRITE)
            continue;
        enum dh_argument a = dh_conflicts_argue(&s->walk, e, other, false);
        if (a == DH_ARGUMENT_COUNT)
            a = dh_customs_argue(c, e, other);
        if (a == DH_ARGUMENT_READS || a == DH_ARGUMENT_DISJOINT || a == DH_ARGUMENT_ONE_THREAD)
            continue;
        char *why = dh_format(": %s", dh_argument_text(a));
        tell_event(s, "  ", k, why);
        free(why);
    }
}

static bool explain_place(struct scan *s, const char *place, const char *colon)
{
    unsigned line = (unsigned)strtoul(colon + 1, NULL, 10);
    bool found = false;
    struct dh_customs customs;
    dh_customs_init(&customs, &s->walk);
    for (uint32_t e = 0; e < s->walk.events.n; e++)
        if (s->walk.events.at[e].kind <= DH_EVENT_WRITE && is_at(s, e, place, (size_t)(colon - place), line)) {
            tell_decisions(s, &customs, e);
            found = true;
        }
    dh_customs_release(&customs);
    if (!found)
        printf("no access to anything that threads share at %s\n", place);
    return found;
}

static bool explain(struct scan *s)
{
    const char *colon = strrchr(s->wishes->explain, ':');
    if (colon)
        return explain_place(s, s->wishes->explain, colon);
    for (size_t i = 0; i < s->findings.n; i++)
        if (dh_starts_with(s->findings.at[i].id, s->wishes->explain)) {
            tell_why(s, i);
            return true;
        }
    printf("no suspicion %s\n", s->wishes->explain);
    return false;
}

bool dh_scan_report(struct dh_whole_program *w, const struct dh_scan_wishes *wishes, bool *found, struct dh_err *err)
{
    struct scan s = {.whole = w, .wishes = wishes};
    if (wishes->suppressions && !dh_suppressions_read(&s.suppressions, wishes->suppressions, err))
        return false;
    s.names = (struct dh_scan_names){.whole = w, .walk = &s.walk, .program = wishes->program};
    dh_id_text(&w->id, s.names.build);
    analyse(&s);
    gather(&s);
    unsigned sections = 0;
    bool ok = !wishes->sections || dh_scan_sections(&s.names, &s.inconsistencies, wishes->sections, &sections, err);
    ok = ok && (wishes->explain || store(&s, err));
    *found = s.findings.n;
    if (ok && wishes->explain)
        *found = explain(&s);
    else if (ok)
        (wishes->json ? tell_json : tell_text)(&s);
    if (ok && wishes->sections && !wishes->json)
        printf("%u section%s in %s\n", sections, sections == 1 ? "" : "s", wishes->sections);
    release(&s);
    return ok;
}
