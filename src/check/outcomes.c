/* The stage of check that looks for wrong ends: what belongs together and is not kept together, without being a race,
 * shows in nothing but what the program comes to. */
#include "check/chain.h"
#include "classify/trial.h"
#include "cmd/command.h"
#include "cmd/open_program.h"
#include "cmd/prove_goals.h"
#include "finding/json_text.h"
#include "prove/blame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WEAK_MODEL "c11"
#define BASELINE_NS 500000000ull
#define BLAME_NS 4000000000ull /* for finding out who it was */

struct judging {
    const struct dh_check_search *of;
    struct dh_talk *talk;
    struct dh_subject subject;
    struct dh_found found;
    char *folder;
    uint64_t time_ns; /* for the search; what a right end takes is beside it */
    uint8_t *atomics; /* a byte per place, of a weak memory model; or NULL */
    unsigned blamed;
};

static bool interrupted(void *arg)
{
    const struct judging *j = arg;
    return atomic_load(&j->talk->stop);
}

static void progress(void *arg, const struct dh_campaign_state *state)
{
    struct judging *j = arg;
    dh_talk_now(j->talk, "%llu schedules to their end, %s", (unsigned long long)state->schedules, state->strategy);
}

/* ---- who is to blame ---- */

static uint8_t *places_of(struct judging *j, const struct dh_finding *f)
{
    uint8_t *places = calloc(j->subject.start.places + 1, 1);
    uint32_t one;
    if (!places)
        abort();
    for (size_t i = 0; i < f->accesses.n; i++)
        dh_place_names_mark(j->subject.places, f->accesses.at[i].site, places, &one);
    return places;
}

static bool is_suspect(const struct dh_finding *f)
{
    return dh_found_level(f) < 2 && strcmp(f->verdict, "none") == 0 &&
           (strcmp(f->kind, "atomicity") == 0 || strcmp(f->kind, "view") == 0);
}

/* ---- what is kept ---- */

static bool keep_verdict(struct judging *j, const struct dh_finding *f, const char *why, const char *witness)
{
    struct dh_err err = {0};
    struct dh_store *store = dh_store_open(j->of->c->db, DH_STORE_WRITE, &err);
    struct dh_store_run run = {j->of->c->program, "", (long long)time(NULL)};
    long long id;
    json_t *o = json_object();
    json_object_set_new(o, "verdict", dh_json_text("destructive"));
    json_object_set_new(o, "why", dh_json_text(why));
    json_object_set_new(o, "witness", dh_json_text(witness));
    char *details = dh_json_take(o);
    bool ok = store && dh_store_begin(store, &run, &id, &err) &&
              dh_store_classify(store, f->id, f->build, "destructive", details, &err) && dh_store_commit(store, &err);
    dh_store_close(store);
    free(details);
    if (!ok)
        dh_fail(&err, 0);
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
        dh_fail(&err, 0);
    free(path);
    j->blamed += ok;
    return ok;
}

/* Those that it ends wrongly because of: what a run made suspect, and only without any, what may be on some path. */
static bool blame(struct judging *j, const struct dh_proof *proof, struct dh_blame *c, bool statics, unsigned *n)
{
    for (size_t i = 0; i < j->found.at.n; i++) {
        struct dh_finding *f = j->found.at.at[i];
        if ((strcmp(f->detector, "static") == 0) != statics || !is_suspect(f) || !dh_blame_finding(c, f))
            continue;
        if (!keep(j, proof, f))
            return false;
        dh_finding_set(&f->verdict, "destructive");
        ++*n;
    }
    return true;
}

static bool is_harm_known(const struct judging *j)
{
    for (size_t i = 0; i < j->found.at.n; i++)
        if (strcmp(j->found.at.at[i]->verdict, "destructive") == 0)
            return true;
    return false;
}

/* Where does a race lead, with the one or the other first? */
static bool ends_wrongly(struct judging *j, const struct dh_proof *proof, unsigned first)
{
    struct dh_schedule s = *proof->schedule;
    struct dh_engine_decision *d = malloc((s.n + 2) * sizeof *d);
    struct dh_replayed how;
    struct dh_err err = {0};
    if (!d)
        abort();
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

/* What no schedule leads to without older values. */
static bool keep_weak(struct judging *j, const struct dh_proof *proof)
{
    struct dh_err err = {0};
    char *path = NULL;
    bool race = proof->end->kind == DH_ENGINE_RACE && proof->end->n_parties == 2;
    bool ok = dh_proof_keep(proof, &j->subject, j->of->c->db, j->folder, &path, &err);
    if (!ok)
        dh_fail(&err, 0);
    else if (race && (ends_wrongly(j, proof, 0) || ends_wrongly(j, proof, 1)))
        ok = keep_verdict(j, proof->finding, "the schedule that proves it goes on to a wrong end", path);
    free(path);
    j->blamed += ok;
    return ok;
}

/* A wrong end that nobody is to blame for is a finding of its own, if nothing else is known to do harm. */
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
    dh_engine_marks *visible = calloc(j->subject.start.places + 1, sizeof *visible);
    if (!visible)
        abort();
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
                                    .marks = visible,
                                    .judged = &judged,
                                    .first = !j->atomics};
    struct dh_campaign_host host = {progress, proven, NULL, interrupted, j};
    struct dh_campaign_result r;
    struct dh_err err = {0};
    if (!dh_campaign(&j->subject, &o, NULL, 0, &host, &r, &err) && err.text)
        dh_fail(&err, 0);
    j->talk->schedules += r.schedules;
    dh_talk_say(j->talk, "%u proven by %llu schedules %s", j->blamed, (unsigned long long)r.schedules,
                j->atomics ? "with older values of atomics" : "to a wrong end");
    dh_campaign_result_release(&r);
    free(visible);
}

/* All of them, if any is weaker than sequentially consistent; or NULL. */
static uint8_t *atomics_of(const struct dh_subject *s)
{
    uint8_t *marks = calloc(s->start.places + 1, 1);
    bool weak = false;
    if (!marks)
        abort();
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
        dh_fail(&err, 0);
        return;
    }
    if (dh_baseline_collect_status(&right, &j->subject, BASELINE_NS)) {
        j->folder = dh_witness_folder(j->of->c->db);
        search(j, &right);
        free(j->folder);
    } else
        dh_talk_say(j->talk, "no wrong ends: it has no right one");
    dh_baseline_release(&right);
    dh_found_release(&j->found);
}

void dh_check_outcomes(void *arg, struct dh_talk *t)
{
    struct judging j = {.of = arg, .talk = t};
    uint64_t now = dh_now_ns();
    j.time_ns = j.of->until_ns > now ? j.of->until_ns - now : 1;
    dh_talk_now(t, "what the program comes to when nobody disturbs it");
    if (!dh_open_words("check", j.of->c->argv, j.of->c->input.path, &j.subject, &t->code))
        return;
    if (j.of->weak)
        j.atomics = atomics_of(&j.subject);
    if (!j.of->weak || j.atomics)
        judge(&j);
    free(j.atomics);
    dh_subject_release(&j.subject);
}
