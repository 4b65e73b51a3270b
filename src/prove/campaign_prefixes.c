/* Searches from witness prefixes (002 §3), which come from recorded schedules of the program (witness_prefixes.h). */
#include "prove/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

enum { TRACES = 3, PREFIXES = 12, TRACE_DEPTH = 200000, FIRST_DEPTH = 20000 };
#define LEAST_TRACE (100 * MS) /* for one schedule, however short the goal's turn is */

/* Follows a prefix after which the first access is pending. */
static const struct phase prefix_phases[] = {{"follow", DH_ENGINE_NO_ORDER, 100, 0, false}};

/* Records one schedule; the first without preemption. Owned by the caller; NULL: none. */
static struct dh_engine_found *record_schedule(struct campaign *c, const struct goal_search *a, unsigned number)
{
    uint64_t now = dh_now_ns(), time_ns = a->budget_ns, left = c->until_ns > now ? c->until_ns - now : 0;
    struct phase p = {number ? "random" : "bounded", DH_ENGINE_NO_ORDER, 0, 0, false};
    struct dh_engine_request w = {.job = dh_campaign_job(c, a, &p, time_ns < left ? time_ns : left),
                                  .visible = a->visible,
                                  .found_bytes = TRACE_DEPTH * sizeof(struct dh_engine_decision) + (1u << 20),
                                  .output = DH_OUTPUT_DISCARDED};
    struct dh_engine_found *found = NULL;
    const struct dh_engine_found *f;
    w.job.schedules_max = 1;
    w.job.depth_max = number ? TRACE_DEPTH : FIRST_DEPTH; /* a thread that spins never ends without preemption */
    w.job.look_for = 1u << DH_ENGINE_DONE | 1u << DH_ENGINE_CUT;
    w.job.preemptions_max = number ? UINT32_MAX : 0;
    struct dh_engine_process *control = dh_engine_process_start(&c->terms.s->start, &w, c->err);
    if (!control) {
        c->failed = true;
        return NULL;
    }
    dh_engine_process_wait(control, w.job.time_max_ns + OVERTIME);
    struct dh_engine_control *region = dh_engine_process_region(control);
    if ((f = dh_engine_found_at(region, 0)))
        found = dh_found_end_copy(f, region->found_size);
    c->terms.out->no_threads = c->terms.out->no_threads || region->progress.state == DH_ENGINE_NO_THREADS;
    c->terms.out->schedules += region->progress.schedules;
    c->terms.out->steps += region->progress.steps;
    dh_engine_process_free(control);
    return found;
}

static void try_prefixes(struct campaign *c, struct goal_search *a, const struct dh_engine_found *trace)
{
    struct dh_witness_prefix prefixes[PREFIXES];
    struct dh_witness_prefix_source from = {.decisions = trace->decisions,
                                            .n = trace->n_decisions,
                                            .wanted = a->sides,
                                            .places = c->terms.s->start.places,
                                            .bytes_of = dh_subject_access_size,
                                            .arg = c->terms.s};
    size_t n = dh_witness_prefixes_find(&from, prefixes, PREFIXES);
    for (unsigned reaching = 2; reaching-- > 0;) /* those that need no search come first */
        for (size_t i = 0; i < n && !a->over && dh_campaign_time_left(c); i++)
            if (prefixes[i].reaches == (bool)reaching) {
                a->prefix = &prefixes[i];
                a->next = 0;
                c->terms.out->prefixes++;
                dh_campaign_pursue(c, a);
            }
    a->prefix = NULL;
    dh_witness_prefixes_release(prefixes, n);
}

void dh_campaign_search_prefixes(struct campaign *c, struct goal_search *a)
{
    const struct goal_search after = *a;
    a->phases = prefix_phases;
    a->n_phases = 1;
    a->budget_ns = after.budget_ns / 10 > LEAST_TRACE ? after.budget_ns / 10 : LEAST_TRACE;
    for (unsigned i = 0; i < TRACES && !a->over && dh_campaign_time_left(c) && !c->terms.out->no_threads; i++) {
        struct dh_engine_found *trace = record_schedule(c, a, i);
        c->terms.out->traces += trace != NULL;
        a->prefixes_done |= trace != NULL;
        if (trace)
            try_prefixes(c, a, trace);
        free(trace);
    }
    a->phases = after.phases;
    a->n_phases = after.n_phases;
    a->next = 0;
    a->budget_ns = after.budget_ns;
}
