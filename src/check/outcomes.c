/* The stage of check that searches for wrong ends: an atomicity violation that is no race shows only in the program's
 * result. Delta debugging blames suspicions for them (prove/blame.h). */
#include "base/alloc.h"
#include "check/chain.h"
#include "classify/keep.h"
#include "classify/trial.h"
#include "host/notice.h"
#include "prove/blame.h"
#include "prove/goals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEAK_MODEL "c11"
#define BASELINE_NS 500000000ull
#define BLAME_NS 4000000000ull /* for blaming */

struct judging {
    const struct dh_check_search *of;
    struct dh_stage_state *state;
    struct dh_subject subject;
    struct dh_found found;
    char *folder;
    uint64_t time_ns; /* for the search, without the baseline */
    uint8_t *atomics; /* a byte per place, of a weak memory model; or NULL */
    unsigned blamed;
};

static bool interrupted(void *arg)
{
    const struct judging *j = arg;
    return atomic_load(&j->state->stop);
}

static void progress(void *arg, const struct dh_campaign_state *state)
{
    struct judging *j = arg;
    dh_stage_now(j->state, "%llu schedules to their end, %s", (unsigned long long)state->schedules, state->strategy);
}

/* ---- suspects ---- */

static uint8_t *places_of(struct judging *j, const struct dh_finding *f)
{
    uint8_t *places = dh_xcalloc(j->subject.start.places + 1, 1);
    uint32_t one;
    for (size_t i = 0; i < f->accesses.n; i++)
        dh_place_names_mark(j->subject.places, f->accesses.at[i].site, places, &one);
    return places;
}

static bool is_suspect(const struct dh_finding *f)
{
    return f->level < DH_LEVEL_PROVEN && f->verdict == DH_VERDICT_NONE &&
           (f->kind == DH_FINDING_ATOMICITY || f->kind == DH_FINDING_VIEW);
}

/* ---- what is kept ---- */

static bool keep_verdict(struct judging *j, const struct dh_finding *f, const char *why, const char *witness)
{
    struct dh_err err = {0};
    const struct dh_check *c = j->of->c;
    bool ok = dh_verdict_keep(f, c->program, c->db, DH_VERDICT_DESTRUCTIVE, why, witness, &err);
    if (!ok)
        dh_notice_err(&err);
    return ok;
}

static bool keep(struct judging *j, const struct dh_proof *proof, const struct dh_finding *f)
{
    struct dh_err err = {0};
    struct dh_witness witness = *proof->witness;
    struct dh_proof as = *proof;
    char *path = NULL;
    witness.finding = f->id;
    as.finding = f;
    as.witness = &witness;
    bool ok = dh_proof_keep(&as, &j->subject, j->of->c->db, j->folder, &path, &err) &&
              keep_verdict(j, f, proof->finding->text, path);
    if (err.text)
        dh_notice_err(&err);
    free(path);
    j->blamed += ok;
    return ok;
}

/* Findings that the wrong end is due to: those of runs first, and only without any, those of static analysis. */
static bool blame(struct judging *j, const struct dh_proof *proof, struct dh_blame *c, bool statics, unsigned *n)
{
    for (size_t i = 0; i < j->found.at.n; i++) {
        struct dh_finding *f = j->found.at.at[i];
        if ((strcmp(f->detector, "static") == 0) != statics || !is_suspect(f) || !dh_blame_finding(c, f))
            continue;
        if (!keep(j, proof, f))
            return false;
        f->verdict = DH_VERDICT_DESTRUCTIVE;
        ++*n;
    }
    return true;
}

static bool is_harm_known(const struct judging *j)
{
    for (size_t i = 0; i < j->found.at.n; i++)
        if (j->found.at.at[i]->verdict == DH_VERDICT_DESTRUCTIVE)
            return true;
    return false;
}

/* Does the run end wrongly with this access of the race first? */
static bool ends_wrongly(struct judging *j, const struct dh_proof *proof, unsigned first)
{
    struct dh_schedule s = *proof->schedule;
    struct dh_engine_decision *d = dh_xmalloc((s.n + 2) * sizeof *d);
    struct dh_replayed how;
    struct dh_err err = {0};
    memcpy(d, s.decisions, s.n * sizeof *d);
    for (unsigned i = 0; i < 2; i++) {
        const struct dh_engine_party *p = &proof->end->parties[i ^ first];
        d[s.n++] = (struct dh_engine_decision){
            .thread = p->thread, .place = p->place, .occurrence = p->occurrence, .kind = p->kind};
    }
    s.decisions = d;
    bool wrong = dh_replay(&j->subject.start, &s, DH_REPLAY_GO_ON | DH_REPLAY_NO_RACES, BLAME_NS, &how, &err) &&
                 how.in_time && how.status != 0 && how.state != DH_ENGINE_DIVERGED && how.state != DH_ENGINE_CANNOT;
    dh_replayed_release(&how);
    dh_err_release(&err);
    free(d);
    return wrong;
}

/* Proofs that need stale values. */
static bool keep_weak(struct judging *j, const struct dh_proof *proof)
{
    struct dh_err err = {0};
    char *path = NULL;
    bool race = proof->end->kind == DH_ENGINE_RACE && proof->end->n_parties == 2;
    bool ok = dh_proof_keep(proof, &j->subject, j->of->c->db, j->folder, &path, &err);
    if (!ok)
        dh_notice_err(&err);
    else if (race && (ends_wrongly(j, proof, 0) || ends_wrongly(j, proof, 1)))
        ok = keep_verdict(j, proof->finding, "the schedule that proves it goes on to a wrong end", path);
    free(path);
    j->blamed += ok;
    return ok;
}

/* A wrong end that is due to no finding is one of its own, unless a destructive finding is known. */
static bool proven(void *arg, const struct dh_proof *proof)
{
    struct judging *j = arg;
    bool known = is_harm_known(j);
    struct dh_blame c;
    unsigned n = 0;
    if (proof->end->kind != DH_ENGINE_WRONG)
        return !j->atomics || keep_weak(j, proof);
    dh_blame_init(&c, &j->subject, proof->schedule, 0, dh_now_ns() + BLAME_NS);
    bool ok = blame(j, proof, &c, false, &n) && (n || blame(j, proof, &c, true, &n));
    dh_blame_release(&c);
    return ok && (n || known || keep(j, proof, proof->finding));
}

/* ---- the search ---- */

static dh_engine_marks *visible_of(struct judging *j)
{
    dh_engine_marks *visible = dh_xcalloc(j->subject.start.places + 1, sizeof *visible);
    for (size_t i = 0; i < j->found.at.n; i++) {
        uint8_t *places = is_suspect(j->found.at.at[i]) ? places_of(j, j->found.at.at[i]) : NULL;
        for (uint32_t k = 0; places && k < j->subject.start.places; k++)
            visible[k] |= places[k] ? DH_ENGINE_VISIBLE : 0;
        free(places);
    }
    for (uint32_t k = 0; j->atomics && k < j->subject.start.places; k++)
        visible[k] |= j->atomics[k] ? DH_ENGINE_VISIBLE : 0;
    return visible;
}

static void search(struct judging *j, const struct dh_baseline *right)
{
    dh_engine_marks *visible = visible_of(j);
    struct dh_adversary_setup judged = dh_baseline_adversary(right, j->atomics ? WEAK_MODEL : "", j->atomics);
    struct dh_campaign_options o = {.budget_ns = j->time_ns,
                                    .jobs = 1,
                                    .shards = 1,
                                    .seed = j->of->seed,
                                    .preemptions = UINT32_MAX,
                                    .schedules = j->of->c->schedules,
                                    .marks = visible,
                                    .judged = &judged,
                                    .first = !j->atomics};
    struct dh_campaign_host host = {progress, proven, NULL, interrupted, j};
    struct dh_campaign_result r;
    struct dh_err err = {0};
    if (!dh_campaign(&j->subject, &o, NULL, 0, &host, &r, &err) && err.text)
        dh_notice_err(&err);
    j->state->schedules += r.schedules;
    dh_stage_say(j->state, "%u proven by %llu schedules %s", j->blamed, (unsigned long long)r.schedules,
                 j->atomics ? "with older values of atomics" : "to a wrong end");
    dh_campaign_result_release(&r);
    free(visible);
}

/* All of them, if any is weaker than sequentially consistent; or NULL. */
static uint8_t *atomics_of(const struct dh_subject *s)
{
    uint8_t *marks = dh_xcalloc(s->start.places + 1, 1);
    bool weak = false;
    for (uint32_t i = 0; i < s->start.places; i++) {
        const struct dh_site_table *table;
        const struct dh_site *site = dh_place_names_site(s->places, i, &table);
        if (!site || site->order == DH_ORDER_NONE || site->op == DH_OP_FENCE)
            continue;
        marks[i] = DH_ENGINE_STALE;
        weak |= site->order != DH_ORDER_SEQ_CST;
    }
    if (!weak) {
        free(marks);
        marks = NULL;
    }
    return marks;
}

static void judge(struct judging *j)
{
    struct dh_baseline right;
    struct dh_err err = {0};
    if (!dh_check_found(j->of->c, &j->found, &err)) {
        dh_notice_err(&err);
        return;
    }
    if (dh_baseline_collect_status(&right, &j->subject, BASELINE_NS)) {
        j->folder = dh_witness_folder(j->of->c->db);
        search(j, &right);
        free(j->folder);
    } else
        dh_stage_say(j->state, "no wrong ends: it has no right one");
    dh_baseline_release(&right);
    dh_found_release(&j->found);
}

void dh_check_outcomes(void *arg, struct dh_stage_state *t)
{
    struct judging j = {.of = arg, .state = t};
    uint64_t now = dh_now_ns();
    j.time_ns = j.of->until_ns > now ? j.of->until_ns - now : 1;
    dh_stage_now(t, "what the program comes to when nobody disturbs it");
    if (!dh_check_open_followed(j.of->c, &j.subject, t))
        return;
    if (j.of->weak)
        j.atomics = atomics_of(&j.subject);
    if (!j.of->weak || j.atomics)
        judge(&j);
    else
        dh_stage_say(t, "no atomic has a weaker order than sequential consistency: no older value to be tried");
    free(j.atomics);
    dh_subject_release(&j.subject);
}
