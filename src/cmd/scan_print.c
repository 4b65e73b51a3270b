#include "cmd/scan_print.h"

#include "analysis/explain.h"
#include "analysis/heuristics.h"
#include "analysis/site_classes.h"
#include "analysis/source_names.h"
#include "analysis/statistics.h"
#include "base/str.h"
#include "report/json.h"
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_limits(const struct dh_scan_results *r)
{
    const struct dh_program *p = r->scan->program;
    for (int i = 0; i < DH_LIMIT_COUNT; i++)
        if (p->limits[i])
            printf("  %-44s %u\n", dh_limit_text((enum dh_limit)i), p->limits[i]);
    for (size_t i = 0; i < p->foreign.n; i++)
        printf("%s%s%s", i ? ", " : "  unknown functions: ", dh_program_string(p, p->foreign.at[i]),
               i + 1 == p->foreign.n ? "\n" : "");
    if (r->scan->points_to.n_unresolved)
        printf("  %-44s %u of %u\n", "calls through pointers without a target", r->scan->points_to.n_unresolved,
               r->scan->points_to.n_indirect);
    if (r->scan->symex.n_widened)
        printf("  %-44s %u\n", "functions with too many contexts to tell apart", r->scan->symex.n_widened);
    if (dh_andersen_gave_up(r->scan->andersen))
        printf("  the budget was used up: what was united is not told apart by what pointers lead to\n");
    if (r->scan->points_to.coarse)
        printf("  the budget was used up: calling contexts are not told apart\n");
    if (!r->scan->symex.threads.n)
        printf("  there is no main, so nothing runs (--library: whatever is exported may)\n");
    if (r->scan->inconsistencies.incomplete)
        printf("  large functions: not every step was looked at for atomicity\n");
    if (!dh_scan_is_complete(r->scan))
        printf("  the budget was used up: not every path was looked at\n");
}

static void print_statistics(const struct dh_scan_results *r)
{
    const struct dh_program *p = r->scan->program;
    printf("%zu functions, %zu instructions, %zu abstract threads, %zu events, %llu pairs\n", p->functions.n,
           p->insts.n, r->scan->symex.threads.n, r->scan->symex.events.n, (unsigned long long)r->scan->conflicts.pairs);
    printf("pointers %.2f s, walk %.2f s, pairs %.2f s, deadlocks %.2f s, consistency %.2f s\n", r->scan->seconds[0],
           r->scan->seconds[1], r->scan->seconds[2], r->scan->seconds[3], r->scan->seconds[4]);
    printf("%llu critical sections, %llu steps on what others write, %llu of them relied on\n",
           (unsigned long long)r->scan->inconsistencies.n_views, (unsigned long long)r->scan->inconsistencies.n_steps,
           (unsigned long long)r->scan->inconsistencies.n_pairs);
    for (size_t i = 0; i < r->scan->symex.threads.n; i++)
        printf("  T%zu %s%s\n", i, dh_source_thread(&r->scan->symex, (uint32_t)i),
               r->scan->symex.threads.at[i].unique ? "" : ", any number of them");
    for (int i = 0; i < DH_ARGUMENT_COUNT; i++)
        if (r->scan->conflicts.by_argument[i])
            printf("  %10llu  %s\n", (unsigned long long)r->scan->conflicts.by_argument[i],
                   dh_argument_text((enum dh_argument)i));
}

/* One report for each variable, with the pair that was found first: those with the fewest locks come first. */
void dh_scan_print_text(const struct dh_scan_results *r, bool statistics)
{
    struct dh_str out = {0};
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct dh_scan_group *g = &r->groups.at[i];
        if (g->first != i && !r->all)
            continue;
        dh_text_finding(&out, &r->findings.at[i]);
        dh_str_addf(&out, "Finding %s\n", r->findings.at[i].id);
        if (g->pairs > 1 && !r->all)
            dh_str_addf(&out, "  and %u more pair%s of places (--all)\n", g->pairs - 1, g->pairs == 2 ? "" : "s");
        dh_str_add(&out, "\n");
    }
    if (out.n)
        fwrite(out.at, 1, out.n, stdout);
    dh_str_release(&out);
    size_t shown = r->all ? r->findings.n : r->n_reports;
    printf("%zu suspicion%s", shown, shown == 1 ? "" : "s");
    if (r->suppressed)
        printf(", %u suppressed", r->suppressed);
    size_t more = r->findings.n + r->more - shown;
    if (more)
        printf("; %zu more pair%s of places on the same variables (--all)", more, more == 1 ? "" : "s");
    printf("\n");
    if (statistics)
        print_statistics(r);
    print_limits(r);
}

void dh_scan_print_json(const struct dh_scan_results *r, bool statistics)
{
    const struct dh_program *p = r->scan->program;
    struct dh_str out = {0};
    for (size_t i = 0; i < r->findings.n; i++) {
        dh_str_add(&out, i ? ",\n" : "\n");
        dh_report_json(&out, &r->findings.at[i]);
    }
    printf("{\"version\":1,\"findings\":[%s\n],\n\"scan\":{\"functions\":%zu,\"instructions\":%zu,\"threads\":%zu,"
           "\"seconds\":[%.3f,%.3f,%.3f,%.3f,%.3f],\"complete\":%s,\"suppressed\":%u,\"more\":%u,\"limits\":{",
           out.at ? out.at : "", p->functions.n, p->insts.n, r->scan->symex.threads.n, r->scan->seconds[0],
           r->scan->seconds[1], r->scan->seconds[2], r->scan->seconds[3], r->scan->seconds[4],
           !dh_scan_is_complete(r->scan) || r->scan->points_to.coarse ? "false" : "true", r->suppressed, r->more);
    bool first = true;
    for (int i = 0; i < DH_LIMIT_COUNT; i++)
        if (p->limits[i]) {
            printf("%s\"%s\":%u", first ? "" : ",", dh_limit_text((enum dh_limit)i), p->limits[i]);
            first = false;
        }
    printf("}");
    if (statistics) {
        dh_str_clear(&out);
        dh_statistics_print(&out, &r->scan->conflicts);
        printf(",\"measures\":%s,\"views\":{\"sections\":%llu,\"functions\":%u}", out.at,
               (unsigned long long)r->scan->inconsistencies.n_views, r->scan->inconsistencies.n_functions);
        dh_str_clear(&out);
        dh_site_classes_print(&out, &r->scan->conflicts);
        printf(",\"classes\":%s", out.at);
    }
    printf("}}\n");
    dh_str_release(&out);
}

static void print_reason(const struct dh_scan_results *r, enum dh_argument argument, uint32_t one, uint32_t other)
{
    char *why = dh_explain_argument(&r->scan->symex, argument, one, other);
    printf("  - %s: no, %s\n", dh_argument_text(argument), why);
    free(why);
}

/* Every argument that was tried, in their order: for a suspicion none of them holds. */
static void print_why_race(const struct dh_scan_results *r, const struct dh_conflict *c)
{
    printf("It would be no race if one of these were so, and none is, as far as can be told without running:\n");
    for (int i = 0; i < DH_ARGUMENT_COUNT; i++)
        print_reason(r, (enum dh_argument)i, c->first, c->second);
    char *escape = dh_scan_escape_text(r, c);
    if (escape)
        printf("%s\n", escape);
    free(escape);
}

/* What would keep the write away from the two steps. */
static void print_why_atomicity(const struct dh_scan_results *r, const struct dh_violation *v)
{
    static const enum dh_argument tried[] = {DH_ARGUMENT_ONE_THREAD, DH_ARGUMENT_FRESH, DH_ARGUMENT_START,
                                             DH_ARGUMENT_JOIN,       DH_ARGUMENT_OWN,   DH_ARGUMENT_BARRIER};
    printf(
        "It would be no violation if one of these were so for the first access and the one in between, and none is,\n"
        "as far as can be told without running:\n");
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        print_reason(r, tried[i], v->first, v->between);
    printf("  - a lock that the one in between needs is held from the first access to the last: no, %s\n",
           v->locked ? "each is in a critical section, but not in one" : "at one of them there is none");
}

static void print_why(const struct dh_scan_results *r, size_t finding)
{
    struct dh_str out = {0};
    dh_text_finding(&out, &r->findings.at[finding]);
    fwrite(out.at, 1, out.n, stdout);
    dh_str_release(&out);
    uint32_t at = r->origins.at[finding].index;
    if (r->origins.at[finding].kind == DH_FROM_RACE)
        print_why_race(r, &r->scan->conflicts.found.at[at]);
    else if (r->origins.at[finding].kind == DH_FROM_VIOLATION)
        print_why_atomicity(r, &r->scan->inconsistencies.found.at[at]);
}

/* ---- what was decided at one place ---- */
static bool is_at(const struct dh_scan_results *r, uint32_t event, const char *file, size_t n, unsigned line)
{
    const struct dh_program *p = r->scan->program;
    const struct dh_source_location *at = &p->places.at[p->insts.at[r->scan->symex.events.at[event].inst].place];
    const char *name = dh_basename(dh_program_string(p, at->file));
    return at->line == line && strlen(name) == n && strncmp(name, file, n) == 0;
}

static void print_event(const struct dh_scan_results *r, const char *before, uint32_t event, const char *after)
{
    const struct dh_program *p = r->scan->program;
    const struct dh_symex_event *e = &r->scan->symex.events.at[event];
    const struct dh_source_location *at = &p->places.at[p->insts.at[e->inst].place];
    printf("%s%s by T%u at %s:%u in %s, %u locks%s\n", before, e->kind == DH_SYMEX_WRITE ? "write" : "read", e->thread,
           dh_basename(dh_program_string(p, at->file)), at->line, dh_program_string(p, at->function),
           r->scan->symex.locksets.at[e->lockset].n, after);
}

/* Every other access of the object that may be another thread's, and why the two do not race. */
static void print_decisions(struct dh_scan_results *r, struct dh_heuristics *c, uint32_t event)
{
    const struct dh_symex_event *e = &r->scan->symex.events.at[event];
    print_event(r, "", event, "");
    for (uint32_t k = 0; k < r->scan->symex.events.n; k++) {
        const struct dh_symex_event *other = &r->scan->symex.events.at[k];
        if (other->node != e->node || other->kind > DH_SYMEX_WRITE)
            continue;
        enum dh_argument a = dh_conflicts_argue(&r->scan->symex, e, other, false);
        if (a == DH_ARGUMENT_COUNT)
            a = dh_heuristics_argue(c, e, other);
        if (a == DH_ARGUMENT_READS || a == DH_ARGUMENT_DISJOINT || a == DH_ARGUMENT_ONE_THREAD)
            continue;
        char *why = dh_format(": %s", dh_argument_text(a));
        print_event(r, "  ", k, why);
        free(why);
    }
}

static bool explain_place(struct dh_scan_results *r, const char *place, const char *colon)
{
    unsigned line = (unsigned)strtoul(colon + 1, NULL, 10);
    bool found = false;
    struct dh_heuristics heuristics;
    dh_heuristics_init(&heuristics, &r->scan->symex);
    for (uint32_t e = 0; e < r->scan->symex.events.n; e++)
        if (r->scan->symex.events.at[e].kind <= DH_SYMEX_WRITE && is_at(r, e, place, (size_t)(colon - place), line)) {
            print_decisions(r, &heuristics, e);
            found = true;
        }
    dh_heuristics_release(&heuristics);
    if (!found)
        printf("no access to anything that threads share at %s\n", place);
    return found;
}

bool dh_scan_print_why(struct dh_scan_results *r, const char *what)
{
    const char *colon = strrchr(what, ':');
    if (colon)
        return explain_place(r, what, colon);
    for (size_t i = 0; i < r->findings.n; i++)
        if (dh_starts_with(r->findings.at[i].id, what)) {
            print_why(r, i);
            return true;
        }
    printf("no suspicion %s\n", what);
    return false;
}
