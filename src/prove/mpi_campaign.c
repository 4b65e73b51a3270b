#include "prove/mpi_campaign.h"

#include "base/names.h"
#include "base/str.h"
#include "finding/details.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A worker sends ASK with its progress, gets PART or STOP, and sends PROOF for each finding it proved. */
enum tag { ASK = 1, PART, STOP, PROOF };
#define LEAST_NS 300000000ull

struct tally {
    uint64_t schedules, steps;
    uint32_t threads, unconfirmed;
};

struct ranks {
    struct dh_mpi *mpi;
    struct dh_campaign_terms terms;
    uint64_t next_part, began_ns, until_ns;
    int stopped; /* workers that got STOP */
    bool failed, found_first;
    struct dh_names proven; /* ids */
    struct dh_err *err;
};

static bool is_over(const struct ranks *r)
{
    bool open = !r->terms.n_goals;
    for (size_t i = 0; i < r->terms.n_goals; i++)
        open = open || r->terms.goals[i].verdict == DH_GOAL_OPEN || r->terms.goals[i].verdict == DH_GOAL_SPENT;
    return r->failed || r->found_first || !open || r->terms.out->verdict == DH_GOAL_EXHAUSTED ||
           r->terms.out->no_threads || dh_now_ns() >= r->until_ns || r->terms.host->interrupted(r->terms.host->arg);
}

/* ---- messages ---- */

/* id, details, strategy, witness, separated by zero bytes. */
static bool send_proof(void *arg, const struct dh_proof *p)
{
    struct ranks *r = arg;
    struct dh_str text = {0};
    char *details = dh_details_write(p->finding);
    dh_str_add_n(&text, p->finding->id, strlen(p->finding->id) + 1);
    dh_str_add_n(&text, details, strlen(details) + 1);
    dh_str_addf(&text, "%s", p->strategy);
    dh_str_add_n(&text, "", 1);
    dh_witness_print(&text, p->witness);
    dh_str_add(&text, "mark 00000000000000000000000000000000\n");
    bool ok = dh_mpi_send(r->mpi, 0, PROOF, text.at, text.n);
    free(details);
    dh_str_release(&text);
    return ok;
}

static struct dh_goal *goal_of(struct ranks *r, const char *id)
{
    for (size_t i = 0; i < r->terms.n_goals; i++)
        if (strcmp(r->terms.goals[i].finding->id, id) == 0)
            return &r->terms.goals[i];
    return NULL;
}

static void report_proof(struct ranks *r, const struct dh_proof *p)
{
    struct dh_goal *g = goal_of(r, p->finding->id);
    if (dh_names_has(&r->proven, p->finding->id))
        return;
    dh_names_add(&r->proven, p->finding->id);
    if (g)
        g->verdict = DH_GOAL_PROVEN;
    r->terms.out->proven++;
    r->found_first = r->found_first || r->terms.o->first;
    r->failed = !r->terms.host->proven(r->terms.host->arg, p) || r->failed;
}

static bool own_proof(void *arg, const struct dh_proof *p)
{
    struct ranks *r = arg;
    report_proof(r, p);
    return !r->failed;
}

static void report_witness(struct ranks *r, const struct dh_finding *f, const struct dh_witness *w,
                           const char *strategy)
{
    struct dh_resolved_witness resolved;
    struct dh_err ignored = {0};
    if (dh_subject_resolve_witness(r->terms.s, w, &resolved, &ignored)) {
        struct dh_schedule schedule = dh_resolved_witness_schedule(&resolved);
        struct dh_proof p = {.finding = f,
                             .witness = w,
                             .schedule = &schedule,
                             .end = resolved.end,
                             .schedules = r->terms.out->schedules,
                             .time_ns = dh_now_ns() - r->began_ns,
                             .strategy = strategy,
                             .steps_before = schedule.n};
        report_proof(r, &p);
    }
    dh_resolved_witness_release(&resolved);
    dh_err_release(&ignored);
}

/* Messages of workers are parsed as strictly as files. */
static void take_proof(struct ranks *r, const struct dh_bytes *b)
{
    const char *id = (const char *)b->at, *end = id + b->n;
    const char *details = id + strnlen(id, b->n) + 1;
    const char *strategy = details < end ? details + strnlen(details, (size_t)(end - details)) + 1 : end;
    const char *witness = strategy < end ? strategy + strnlen(strategy, (size_t)(end - strategy)) + 1 : end;
    struct dh_finding f;
    struct dh_witness w;
    struct dh_err ignored = {0};
    char mark[33];
    size_t body;
    if (witness >= end || !dh_details_read(details, &f))
        return;
    dh_finding_set(&f.id, id);
    f.verdict = DH_VERDICT_NONE;
    f.healing = DH_HEALING_NONE;
    dh_finding_set(&f.build, r->terms.s->build);
    if (dh_witness_parse(&w, witness, (size_t)(end - witness), mark, &body, &ignored))
        report_witness(r, &f, &w, strategy);
    dh_witness_release(&w);
    dh_finding_release(&f);
    dh_err_release(&ignored);
}

static void add_tally(struct ranks *r, const struct tally *t)
{
    r->terms.out->schedules += t->schedules;
    r->terms.out->steps += t->steps;
    r->terms.out->unconfirmed += t->unconfirmed;
    r->terms.out->threads = t->threads > r->terms.out->threads ? t->threads : r->terms.out->threads;
}

/* On rank 0: handles all messages that have arrived. */
static void serve(struct ranks *r)
{
    struct dh_bytes b;
    int from, tag;
    while (dh_mpi_poll(r->mpi, &from, &tag, &b)) {
        if (tag == PROOF)
            take_proof(r, &b);
        if (tag == ASK && b.n == sizeof(struct tally)) {
            struct tally t;
            memcpy(&t, b.at, sizeof t);
            add_tally(r, &t);
            bool over = is_over(r);
            uint64_t part = r->next_part++;
            dh_mpi_send(r->mpi, from, over ? STOP : PART, &part, sizeof part);
            r->stopped += over;
        }
        dh_bytes_release(&b);
    }
}

/* ---- parts ---- */

/* Long enough to be worth a start, short enough that no rank waits long for the others at the end. */
static uint64_t slice(const struct ranks *r)
{
    uint64_t ns = r->terms.o->budget_ns / 8, now = dh_now_ns();
    ns = ns < LEAST_NS ? LEAST_NS : ns;
    uint64_t left = r->until_ns > now ? r->until_ns - now : 0;
    return ns < left ? ns : left;
}

/* Part k is goal k mod n with the kth seeds. */
static bool do_part(struct ranks *r, uint64_t part, const struct dh_campaign_host *host,
                    struct dh_campaign_result *result)
{
    struct dh_campaign_options o = *r->terms.o;
    o.shard = 0;
    o.shards = 1;
    o.seed = r->terms.o->seed + part * 0x632be59bd9b4e019u;
    o.budget_ns = slice(r);
    if (!r->terms.n_goals)
        return dh_campaign(r->terms.s, &o, NULL, 0, host, result, r->err);
    struct dh_goal *g = NULL;
    for (size_t i = 0; i < r->terms.n_goals && !g; i++) {
        struct dh_goal *candidate = &r->terms.goals[(part + i) % r->terms.n_goals];
        if (candidate->verdict == DH_GOAL_OPEN || candidate->verdict == DH_GOAL_SPENT)
            g = candidate;
    }
    *result = (struct dh_campaign_result){0};
    if (!g)
        return true;
    g->verdict = DH_GOAL_OPEN;
    return dh_campaign(r->terms.s, &o, g, 1, host, result, r->err);
}

static void run_as_first(struct ranks *r, const struct dh_campaign_host *host)
{
    while (!is_over(r)) {
        struct dh_campaign_result part;
        r->failed = !do_part(r, r->next_part++, host, &part) || r->failed;
        struct tally t = {part.schedules, part.steps, part.threads, part.unconfirmed};
        add_tally(r, &t);
        r->terms.out->verdict = part.verdict;
        r->terms.out->no_threads = r->terms.out->no_threads || part.no_threads;
        r->terms.out->interrupted = r->terms.out->interrupted || part.interrupted;
        free(r->terms.out->bounds);
        r->terms.out->bounds = part.bounds ? dh_strdup(part.bounds) : NULL;
        if (part.cannot && !r->terms.out->cannot)
            r->terms.out->cannot = dh_strdup(part.cannot);
        r->failed = r->failed || part.cannot;
        dh_campaign_result_release(&part);
        serve(r);
    }
    while (r->stopped < dh_mpi_size(r->mpi) - 1) {
        serve(r);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

static bool next_part(struct ranks *r, const struct tally *t, uint64_t *part)
{
    struct dh_bytes b;
    int from, tag;
    if (!dh_mpi_send(r->mpi, 0, ASK, t, sizeof *t))
        return false;
    while (!dh_mpi_poll(r->mpi, &from, &tag, &b))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    bool more = tag == PART && b.n == sizeof *part;
    if (more)
        memcpy(part, b.at, sizeof *part);
    dh_bytes_release(&b);
    return more;
}

static void run_as_worker(struct ranks *r, const struct dh_campaign_host *host)
{
    struct tally t = {0};
    for (uint64_t part; next_part(r, &t, &part);) {
        struct dh_campaign_result result;
        r->until_ns = dh_now_ns() + r->terms.o->budget_ns; /* rank 0 decides when it is over */
        r->failed = !do_part(r, part, host, &result);
        t = (struct tally){result.schedules, result.steps, result.threads, result.unconfirmed};
        dh_campaign_result_release(&result);
    }
}

static void progress(void *arg, const struct dh_campaign_state *s)
{
    struct ranks *r = arg;
    struct dh_campaign_state all = *s;
    uint64_t now = dh_now_ns();
    if (dh_mpi_rank(r->mpi))
        return;
    serve(r);
    all.schedules += r->terms.out->schedules;
    all.proven = r->terms.out->proven;
    all.elapsed_ns = now - r->began_ns;
    all.left_ns = r->until_ns > now ? r->until_ns - now : 0;
    r->terms.host->progress(r->terms.host->arg, &all);
}

static bool interrupted(void *arg)
{
    struct ranks *r = arg;
    return r->terms.host->interrupted(r->terms.host->arg) || r->found_first;
}

bool dh_mpi_campaign(struct dh_mpi *mpi, struct dh_subject *s, const struct dh_campaign_options *o,
                     struct dh_goal *goals, size_t n, const struct dh_campaign_host *host,
                     struct dh_campaign_result *out, struct dh_err *err)
{
    struct ranks r = {.mpi = mpi, .terms = {s, o, goals, n, host, out}, .err = err};
    bool first = dh_mpi_rank(mpi) == 0;
    struct dh_campaign_host own = {progress, first ? own_proof : send_proof, NULL, interrupted, &r};
    *out = (struct dh_campaign_result){.verdict = DH_GOAL_OPEN};
    r.began_ns = dh_now_ns();
    r.until_ns = r.began_ns + o->budget_ns;
    if (first)
        run_as_first(&r, &own);
    else
        run_as_worker(&r, &own);
    out->elapsed_ns = dh_now_ns() - r.began_ns;
    dh_names_release(&r.proven);
    return !r.failed || out->cannot;
}
