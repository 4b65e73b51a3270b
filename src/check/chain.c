/* Divides the budget among the stages: time goes where a finding can still rise. */
#include "check/chain.h"

#include "heal/means.h"
#include "launch/open_subject.h"
#include "prove/engine_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MS 1000000ull
#define SCAN_GRACE (1500 * MS) /* what it has is stored */
#define SCAN_PART 6            /* of the budget */
#define HASTE_PART 60          /* when the variant for runs takes more, the first run is one of the program as it is */
#define JUDGING_MORE (5000 * MS) /* for the baseline */
#define IDLE_PART 6              /* of the budget */
#define IDLE_LEAST (5000 * MS)
#define GRACE_LEAST (2000 * MS)
#define GRACE_PART 20          /* of the budget */
#define QUIET_MOST (5000 * MS) /* then a stage without news has a line, too */
#define LAST_GRACE (700 * MS)  /* when all is over: what a stage has is stored */
/* How often in a row a stage may be tried without news. */
enum { BARREN_RUNS = 3, BARREN_EXPLORATIONS = 2, BARREN_ENDS = 2, WEAK_ROUNDS = 2, MOST_FAILURES = 4 };
enum { JUDGED_RUNS = 12 };        /* fewer of all heuristics together come to no verdict */
enum { BARREN_SCHEDULES = 2000 }; /* fewer say nothing: a slow program is explored for as long as there is time */

/* ---- what there is ---- */

bool dh_found_is_failure(const struct dh_finding *f)
{
    return f->level == DH_LEVEL_PROVEN &&
           dh_kind_is_in(f->kind, DH_KIND_BIT(DEADLOCK) | DH_KIND_BIT(LOST_WAKEUP) | DH_KIND_BIT(INDEFINITE_WAIT) |
                                      DH_KIND_BIT(CRITICAL_WAIT) | DH_KIND_BIT(ASSERTION) | DH_KIND_BIT(CRASH) |
                                      DH_KIND_BIT(USE_AFTER_FREE));
}

bool dh_found_is_searched(const struct dh_finding *f)
{
    return dh_kind_is_in(f->kind, DH_KIND_BIT(RACE) | DH_KIND_BIT(DEADLOCK) | DH_KIND_BIT(LOST_WAKEUP) |
                                      DH_KIND_BIT(INDEFINITE_WAIT) | DH_KIND_BIT(CRITICAL_WAIT) |
                                      DH_KIND_BIT(USE_AFTER_FREE));
}

/* Surer findings come first, then those that do more harm; what was not classified comes before what does none. */
static unsigned rank(const struct dh_finding *f)
{
    static const unsigned by_verdict[] = {
        [DH_VERDICT_DESTRUCTIVE] = 0, [DH_VERDICT_QOS] = 1, [DH_VERDICT_NONE] = 2, [DH_VERDICT_NO_FAILURE] = 3};
    return (DH_LEVEL_PROVEN - f->level) * DH_VERDICT_COUNT + by_verdict[f->verdict];
}

static int by_rank(const void *a, const void *b)
{
    const struct dh_finding *f = *(struct dh_finding *const *)a, *g = *(struct dh_finding *const *)b;
    if (rank(f) != rank(g))
        return rank(f) < rank(g) ? -1 : 1;
    return f->first_seen != g->first_seen ? (f->first_seen < g->first_seen ? -1 : 1) : strcmp(f->id, g->id);
}

static void copy_finding(void *arg, const struct dh_finding *f)
{
    struct dh_found *out = arg;
    struct dh_finding *copy = dh_finding_copy(f);
    dh_finding_set(&copy->witness, f->witness);
    dh_finding_set(&copy->healed, f->healed);
    dh_vec_push(&out->at, copy);
}

bool dh_check_found(const struct dh_check *c, struct dh_found *out, struct dh_err *err)
{
    struct dh_store_choice choice = {.since = c->since, .program = c->program};
    *out = (struct dh_found){0};
    struct dh_store *s = dh_store_open(c->db, DH_STORE_READ, err);
    bool ok = s && dh_store_each(s, &choice, copy_finding, out, err);
    dh_store_close(s);
    if (out->at.n)
        qsort(out->at.at, out->at.n, sizeof *out->at.at, by_rank);
    return ok;
}

void dh_found_release(struct dh_found *f)
{
    for (size_t i = 0; i < f->at.n; i++) {
        dh_finding_release(f->at.at[i]);
        free(f->at.at[i]);
    }
    dh_vec_release(&f->at);
}

bool dh_check_open_subject(const struct dh_check *c, struct dh_subject *s, struct dh_stage_state *t)
{
    struct dh_err err = {0};
    if (dh_open_subject(DH_ENGINE_PLAN, "check", c->argv, c->input.path, s, &err)) {
        if (!c->child || dh_follow_named_child(s, c->child, &err))
            return true;
        dh_subject_release(s);
    }
    dh_stage_fail(t, &err);
    return false;
}

bool dh_check_open_followed(const struct dh_check *c, struct dh_subject *s, struct dh_stage_state *t)
{
    struct dh_err err = {0};
    struct dh_child_process known = {
        .identity = t->child.identity, .program = t->child.program, .command = t->child.program};
    memcpy(known.build, t->child.build, sizeof known.build);
    if (!dh_check_open_subject(c, s, t) || !known.identity || dh_follow_child(s, &known, &err))
        return s->program;
    dh_subject_release(s);
    dh_stage_fail(t, &err);
    return false;
}

void dh_check_keep_child(const struct dh_subject *s, struct dh_stage_state *t)
{
    if (!s->start.follow)
        return;
    t->child.identity = s->start.follow;
    snprintf(t->child.build, sizeof t->child.build, "%s", s->build);
    snprintf(t->child.program, sizeof t->child.program, "%s", s->program);
}

/* ---- what can still rise ---- */

/* Observed findings get time in every round, suspicions of static analysis little. After an exhaustive search there are
 * no goals. */
bool dh_check_is_goal(const struct dh_check *c, const struct dh_finding *f, bool statics)
{
    bool is_static = f->level == DH_LEVEL_SUSPECTED && strcmp(f->detector, "static") == 0;
    const struct dh_attempts *tried = dh_stage_tried(c->state, f->id);
    return is_static == statics && f->level < DH_LEVEL_PROVEN && dh_found_is_searched(f) && !c->state->exhausted &&
           !tried->settled && tried->spent_ns < c->budget_ns / (is_static ? 10 : 4);
}

bool dh_check_is_unclassified(const struct dh_check *c, const struct dh_finding *f, bool thorough)
{
    if (f->kind != DH_FINDING_RACE || f->level == DH_LEVEL_SUSPECTED)
        return false;
    unsigned done = dh_stage_tried(c->state, f->id)->verdicts;
    bool none = f->verdict == DH_VERDICT_NONE;
    return thorough ? done < 2 && (none || f->verdict == DH_VERDICT_NO_FAILURE) : !done && none;
}

bool dh_check_is_healable(const struct dh_finding *f)
{
    return f->level >= DH_LEVEL_OBSERVED &&
           dh_kind_is_in(f->kind,
                         DH_KIND_BIT(RACE) | DH_KIND_BIT(DEADLOCK) | DH_KIND_BIT(ATOMICITY) | DH_KIND_BIT(VIEW)) &&
           f->verdict != DH_VERDICT_QOS && !dh_heal_is_needless(f) && f->healing != DH_HEALING_VERIFIED;
}

/* Counts over all findings. */
struct sum {
    unsigned level[DH_LEVEL_COUNT], goals, statics, suspects, destructive, unclassified, doubtful, failures, healable,
        harmful;
    unsigned score; /* grows with every finding, level and verdict */
};

static struct sum sum_up(const struct dh_check *c)
{
    struct sum s = {0};
    struct dh_found found;
    struct dh_err err = {0};
    if (!dh_check_found(c, &found, &err))
        dh_err_release(&err);
    for (size_t i = 0; i < found.at.n; i++) {
        const struct dh_finding *f = found.at.at[i];
        bool judged = f->verdict != DH_VERDICT_NONE;
        s.level[f->level]++;
        s.goals += dh_check_is_goal(c, f, false);
        s.statics += dh_check_is_goal(c, f, true);
        s.unclassified += dh_check_is_unclassified(c, f, false);
        s.doubtful += dh_check_is_unclassified(c, f, true);
        s.suspects +=
            f->level < DH_LEVEL_PROVEN && !judged && dh_kind_is_in(f->kind, DH_KIND_BIT(ATOMICITY) | DH_KIND_BIT(VIEW));
        s.destructive += f->verdict == DH_VERDICT_DESTRUCTIVE;
        s.failures += dh_found_is_failure(f) && !judged;
        s.healable += dh_check_is_healable(f);
        s.harmful += dh_check_is_healable(f) && f->verdict == DH_VERDICT_DESTRUCTIVE;
        s.score += 1 + f->level + (judged && f->verdict != DH_VERDICT_NO_FAILURE);
    }
    dh_found_release(&found);
    return s;
}

/* ---- time ---- */

static uint64_t budget_left(const struct dh_check *c)
{
    uint64_t now = dh_now_ns();
    return dh_check_ends(c) > now ? dh_check_ends(c) - now : 0;
}

/* A part of the time is kept for healing, which comes last; more when it is known that there is harm to be healed, less
 * as long as nothing is proven: a policy is verified against a witness. */
static uint64_t left_to_climb(const struct dh_check *c, const struct sum *s)
{
    uint64_t part = s->harmful ? 3 : s->level[DH_LEVEL_PROVEN] ? 5 : 12;
    uint64_t kept = c->heals && s->healable > c->refused ? c->budget_ns / part : 0, all = budget_left(c);
    return all > kept ? all - kept : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What a stage may take beyond its time: the last schedule found may still be minimised and replayed. */
static uint64_t grace_of(const struct dh_check *c)
{
    return most(c->budget_ns / GRACE_PART, GRACE_LEAST);
}

/* ---- stages ---- */

struct chain {
    struct dh_check *c;
    struct sum sum;
    uint64_t proving_ns, classifying_ns, statics_ns; /* spent */
    unsigned barren_runs, barren_explorations, explorations, judged, weakened;
    unsigned reported; /* bits of stages that were */
    bool is_slow_to_judge;
    bool is_scanned;
    unsigned goals_left;  /* after the last search for them */
    unsigned failures;    /* stages in a row that failed by themselves */
    pid_t beside;         /* makes variants; 0: nobody does */
    const char *why_over; /* why it ended before its time, or NULL */
};

static bool goes_on(const struct chain *k)
{
    return !dh_stage_interrupted() && k->failures < MOST_FAILURES && left_to_climb(k->c, &k->sum) > 200 * MS;
}

enum stage_name { SCAN, RUN, PROVE, CLASSIFY, HEAL };
static const char *const names[] = {"scan", "run", "prove", "classify", "heal"};

/* A stage is reported once; again only with news, or when nothing was said for long. */
static void report(struct chain *k, enum stage_name name, const struct dh_stage_end *end, bool news)
{
    const char *said = k->c->state->said;
    char late[DH_STAGE_WORDS + 32];
    bool spoke = dh_stage_silent_ns() < QUIET_MOST;
    if ((k->reported & 1u << name) && !news && !k->c->reports_all && spoke)
        return;
    k->reported |= 1u << name;
    dh_stage_spoke();
    if (end->failed && !end->late && !dh_stage_interrupted())
        said = "it did not come to its end";
    else if (!*said && end->late) {
        const char *now = k->c->state->now; /* what it was at */
        snprintf(late, sizeof late, "its time was over%s%s", *now ? ": " : "", now);
        said = late;
    } else if (!*said)
        said = "nothing new";
    k->c->host->ended(names[name], end->took_ns, said);
}

static void run_stage(struct chain *k, const struct dh_stage *stage, struct dh_stage_end *end)
{
    struct dh_stage s = *stage;
    s.progress = k->c->host->progress;
    s.still = k->c->host->still;
    if (!k->c->only_run)
        s.killed_ns = dh_check_ends(k->c) + LAST_GRACE;
    dh_stage_run(&s, k->c->state, end);
    bool failed = k->c->state->result != DH_STAGE_DONE || (end->failed && !end->late);
    k->failures = failed ? k->failures + 1 : 0;
}

/* Counts of all findings so far: a stage that was cut must not look as if there were none. */
static void say_counts(struct chain *k, enum stage_name name, const struct dh_stage_end *end)
{
    const struct sum *s = &k->sum;
    char words[DH_STAGE_WORDS + 2];
    snprintf(words, sizeof words, "%s%s", k->c->state->said[0] ? "; " : "", k->c->state->said);
    char ended[DH_STAGE_WORDS + 96] = "ended by us; ";
    const struct dh_stage_state *t = k->c->state;
    if (t->waits[0])
        snprintf(ended, sizeof ended, "it %s %s%s: ended by us; ",
                 t->hangs   ? "hangs, it waits"
                 : t->works ? "has not ended, it works"
                            : "does not end, it waits",
                 t->waits, t->hangs ? ", for nothing but itself" : "");
    dh_stage_say(k->c->state, "%s%s%s%u observed, %u suspected%s",
                 !end->late     ? ""
                 : name == SCAN ? "its time was over before it had any; "
                                : ended,
                 name == RUN && k->c->runs ? "with noise" : "",
                 name == RUN && k->c->in_haste
                     ? (k->c->runs ? ", races and deadlocks only: " : "races and deadlocks only: ")
                 : name == RUN && k->c->runs ? ": "
                                             : "",
                 s->level[DH_LEVEL_OBSERVED] + s->level[DH_LEVEL_PROVEN], s->level[DH_LEVEL_SUSPECTED],
                 name == SCAN ? words : "");
}

/* Whether a finding is new or has risen. */
static bool run_child_stage(struct chain *k, enum stage_name name, const struct dh_stage *stage,
                            struct dh_stage_end *end)
{
    struct sum before = k->sum;
    run_stage(k, stage, end);
    k->sum = sum_up(k->c);
    bool news = k->sum.score != before.score;
    if (name == SCAN || name == RUN)
        say_counts(k, name, end);
    if (!k->c->only_run && (name != RUN || k->c->state->result == DH_STAGE_DONE))
        report(k, name, end, news);
    return news;
}

/* It ends by itself in time, with what it has; it is killed only if it does not. */
static bool scan(struct chain *k)
{
    uint64_t time = least(k->c->budget_ns / SCAN_PART, budget_left(k->c));
    struct dh_stage stage = {.name = "scan",
                             .work = dh_check_scan,
                             .arg = k->c,
                             .until_ns = dh_now_ns() + time + SCAN_GRACE,
                             .all_ends_ns = dh_check_ends(k->c)};
    struct dh_stage_end end;
    if (k->is_scanned || !goes_on(k))
        return false;
    k->is_scanned = true;
    k->c->scan_ns = time;
    run_child_stage(k, SCAN, &stage, &end);
    return true;
}

/* Variants are made beside the first stages. What takes long to make for runs comes after what searches need. */
static void derive_beside(struct chain *k)
{
    struct dh_stage stage = {.name = "derive", .work = dh_check_derive_all, .arg = k->c};
    stage.killed_ns = dh_check_ends(k->c);
    k->beside = dh_stage_start_beside(&stage, k->c->state);
}

/* Time that no stage had is accounted for, too. */
static void report_deriving(const struct chain *k, const struct dh_stage_end *end, const char *what)
{
    if (!end->late && end->took_ns > k->c->budget_ns / 10)
        k->c->host->ended("derive", end->took_ns, what);
}

/* The variant of a large program with hooks for every detector may take longer than all of the budget: what can be
 * observed without it is observed first. */
static void prepare_run(struct chain *k)
{
    struct dh_check *c = k->c;
    if (c->in_haste)
        return;
    struct dh_stage stage = {.name = "run",
                             .work = dh_check_prepare_run,
                             .arg = c,
                             .until_ns = most(c->began_ns + c->budget_ns / 12, dh_now_ns() + c->budget_ns / 20),
                             .all_ends_ns = dh_check_ends(c)};
    struct dh_stage_end end;
    run_stage(k, &stage, &end);
    report_deriving(k, &end, "the variant that runs are watched with");
    if (!end.late || !c->is_searchable)
        return;
    c->host->ended("derive", end.took_ns,
                   "no time yet for the variant with every detector: races and deadlocks come first");
    c->in_haste = true;
}

/* How long it may do nothing but wait for a time. */
static uint64_t idle_of(const struct dh_check *c)
{
    return most(c->budget_ns / IDLE_PART, IDLE_LEAST);
}

/* A program that does not end by itself is ended when half of the time is over, or when it only waits. */
static enum dh_stage_result run_first(struct chain *k)
{
    struct dh_check *c = k->c;
    struct dh_check_run arg = {.c = c, .is_first = true};
    struct dh_stage stage = {
        .name = "run",
        .work = dh_check_run,
        .arg = &arg,
        .until_ns = c->only_run ? UINT64_MAX : most(c->began_ns + c->budget_ns / 2, dh_now_ns() + c->budget_ns / 6),
        .grace_ns = grace_of(c),
        .all_ends_ns = dh_check_ends(c),
        .idle_ns = c->only_run ? 0 : idle_of(c),
        .runs_program = true,
        .is_ours = true};
    struct dh_stage_end end;
    run_child_stage(k, RUN, &stage, &end);
    c->runs++;
    c->run_ns = end.took_ns;
    c->status = c->state->status;
    c->status_is_ours = end.late || dh_stage_interrupted();
    dh_check_input_end(&c->input);
    return end.failed && !c->status_is_ours ? DH_STAGE_FAILED : c->state->result;
}

static const char *noise_of(const struct chain *k)
{
    static const char *const noises[] = {"sync,200,200us,sleep", "random,50,100us,sleep;sync,200,200us,sleep",
                                         "auto:20%"};
    return noises[(k->c->runs - 1) % (sizeof noises / sizeof *noises)];
}

static bool run_with_noise(struct chain *k)
{
    struct dh_check *c = k->c;
    if (k->barren_runs >= BARREN_RUNS || c->status_is_ours || !goes_on(k))
        return false;
    if (c->in_haste) {
        c->in_haste = false; /* the variant with every detector may be there by now */
        c->in_haste = dh_check_run_estimate_ns(c) > 0;
    }
    struct dh_check_run arg = {.c = c, .noise = noise_of(k), .seed = c->runs};
    uint64_t most = least(c->run_ns * 4 + 2000 * MS, left_to_climb(c, &k->sum) / 4);
    if (most < c->run_ns)
        return false;
    struct dh_stage stage = {.name = "run",
                             .work = dh_check_run,
                             .arg = &arg,
                             .until_ns = dh_now_ns() + most,
                             .grace_ns = grace_of(c),
                             .all_ends_ns = dh_check_ends(c),
                             .idle_ns = idle_of(c),
                             .runs_program = true};
    struct dh_stage_end end;
    bool news = run_child_stage(k, RUN, &stage, &end);
    c->runs++;
    k->barren_runs = news ? 0 : k->barren_runs + 1;
    return true;
}

/* Which part of it was being made when time was over, if that is known. */
static void say_not_made(struct dh_stage_state *t)
{
    const char *at = t->beside[0] ? t->beside : t->now;
    snprintf(t->cannot, sizeof t->cannot,
             "no time to make the variant for it%s%.60s%s; what is made is kept for the next check", at[0] ? " (" : "",
             at, at[0] ? ")" : "");
}

/* The time to make the variant for searching is no stage's share. */
static void prepare(struct chain *k)
{
    struct dh_check_search arg = {.c = k->c};
    struct dh_stage stage = {.name = "prove",
                             .work = dh_check_prepare,
                             .arg = &arg,
                             .until_ns = dh_check_ends(k->c) - k->c->budget_ns / 10,
                             .all_ends_ns = dh_check_ends(k->c)};
    struct dh_stage_end end;
    run_stage(k, &stage, &end);
    if (k->c->state->said[0])
        k->c->host->ended("baseline", end.took_ns, k->c->state->said);
    else
        report_deriving(k, &end, "the variant for searching, and the comparison with a native run");
    if (!end.late)
        return;
    if (strstr(k->c->state->now, DH_CHECK_COMPARING))
        snprintf(k->c->state->cannot, sizeof k->c->state->cannot, "no time to compare it with a native run");
    else
        say_not_made(k->c->state);
    k->c->host->ended(names[PROVE], end.took_ns, k->c->state->cannot);
    k->reported |= 1u << PROVE;
}

static bool search(struct chain *k, void (*work)(void *, struct dh_stage_state *), struct dh_check_search arg,
                   uint64_t most_ns)
{
    struct dh_check *c = k->c;
    uint64_t now = dh_now_ns(), allowed = c->prove_ns > k->proving_ns ? c->prove_ns - k->proving_ns : 0;
    uint64_t time = least(least(most_ns, allowed), left_to_climb(c, &k->sum));
    if (c->state->cannot[0] || time < 100 * MS)
        return false;
    arg.c = c;
    arg.until_ns = now + time;
    arg.seed = 1 + k->explorations;
    uint64_t more = work == dh_check_outcomes ? JUDGING_MORE : 500 * MS;
    struct dh_stage stage = {.name = "prove",
                             .work = work,
                             .arg = &arg,
                             .until_ns = least(now + time + more, dh_check_ends(c) + 500 * MS),
                             .grace_ns = grace_of(c),
                             .all_ends_ns = dh_check_ends(c)};
    struct dh_stage_end end;
    uint64_t before = c->state->schedules;
    bool news = run_child_stage(k, PROVE, &stage, &end);
    k->proving_ns += end.took_ns;
    if (arg.explores) {
        bool many = c->schedules || c->state->schedules - before >= BARREN_SCHEDULES;
        k->explorations++;
        k->barren_explorations = news ? 0 : k->barren_explorations + many;
    }
    return true;
}

static bool prove(struct chain *k, uint64_t quantum, bool thorough)
{
    if (!k->sum.goals || !goes_on(k))
        return false;
    /* Two strategies come to schedules; where one takes long, less time for the stage would be wasted. */
    uint64_t goal_ns = most(quantum, 2 * dh_hosting_least_ns(&k->c->state->hosting));
    bool any = search(k, dh_check_search, (struct dh_check_search){.goal_ns = goal_ns, .thorough = thorough},
                      most(left_to_climb(k->c, &k->sum) / (thorough ? 3 : 5), goal_ns));
    k->goals_left = k->sum.goals;
    return any;
}

/* Runs, or static analysis, have shown more since. */
static bool prove_news(struct chain *k, uint64_t quantum, bool thorough)
{
    return k->sum.goals > k->goals_left && prove(k, quantum, thorough);
}

static bool prove_static(struct chain *k, uint64_t quantum)
{
    uint64_t most = k->c->budget_ns / 5, began = dh_now_ns();
    if (!k->sum.statics || k->statics_ns >= most || !goes_on(k))
        return false;
    bool any = search(k, dh_check_search, (struct dh_check_search){.goal_ns = quantum / 2, .statics = true},
                      least(most - k->statics_ns, left_to_climb(k->c, &k->sum) / 4));
    k->statics_ns += dh_now_ns() - began;
    return any;
}

/* Exploration without a goal, for defects that no run has shown. */
static bool explore(struct chain *k, uint64_t quantum)
{
    if (k->c->state->explored || k->barren_explorations >= BARREN_EXPLORATIONS || !goes_on(k))
        return false;
    return search(k, dh_check_search, (struct dh_check_search){.explores = true}, quantum * 2);
}

/* Atomicity violations and views show in wrong ends; once also when nothing destructive is known. */
static bool judge_ends(struct chain *k, uint64_t quantum)
{
    unsigned most = k->sum.suspects ? BARREN_ENDS : !k->sum.destructive;
    if (k->judged >= most || !goes_on(k))
        return false;
    k->judged++;
    return search(k, dh_check_outcomes, (struct dh_check_search){0}, quantum * 2);
}

/* Defects of atomics with too weak an order show only under a weak memory model. */
static bool weaken(struct chain *k, uint64_t quantum)
{
    if (k->weakened >= WEAK_ROUNDS || !goes_on(k))
        return false;
    k->weakened++;
    return search(k, dh_check_outcomes, (struct dh_check_search){.weak = true}, quantum * 2);
}

/* As long as observed findings may still be proven, that comes first. */
static bool classify(struct chain *k, uint64_t quantum, bool thorough)
{
    struct dh_check *c = k->c;
    unsigned wanted = thorough ? k->sum.doubtful : k->sum.unclassified;
    uint64_t allowed = c->classify_ns > k->classifying_ns ? c->classify_ns - k->classifying_ns : 0;
    uint64_t share = left_to_climb(c, &k->sum) / (k->sum.goals ? 5 : 2);
    uint64_t time = least(least(allowed, wanted * quantum * 2 + 500 * MS), share);
    if ((!wanted && !k->sum.failures) || time < 100 * MS || !goes_on(k))
        return false;
    k->is_slow_to_judge = time < JUDGED_RUNS * c->state->hosting.engine_ns;
    if (k->is_slow_to_judge)
        return false;
    struct dh_check_classify arg = {.c = c, .budget_ns = time, .thorough = thorough};
    struct dh_stage stage = {.name = "classify",
                             .work = dh_check_classify,
                             .arg = &arg,
                             .until_ns = dh_now_ns() + time + 1000 * MS,
                             .grace_ns = grace_of(c),
                             .all_ends_ns = dh_check_ends(c)};
    struct dh_stage_end end;
    run_child_stage(k, CLASSIFY, &stage, &end);
    k->classifying_ns += end.took_ns;
    return true;
}

/* Verdicts that are missing are accounted for. */
static void say_unjudged(struct chain *k)
{
    const struct dh_check *c = k->c;
    char words[DH_STAGE_WORDS];
    if (!k->is_slow_to_judge || k->reported & 1u << CLASSIFY || dh_stage_interrupted())
        return;
    k->reported |= 1u << CLASSIFY;
    snprintf(words, sizeof words, "no verdicts: %d runs are too many for the time, one takes %.1f s in the engine",
             JUDGED_RUNS, (double)c->state->hosting.engine_ns / 1e9);
    c->host->ended(names[CLASSIFY], 0, words);
}

/* However little time is left: that a proven failure is destructive needs no run. */
static void conclude(struct chain *k)
{
    struct dh_check *c = k->c;
    if (!k->sum.failures || !c->classify_ns || budget_left(c) < 100 * MS || dh_stage_interrupted())
        return;
    struct dh_check_classify arg = {.c = c, .concludes = true};
    struct dh_stage stage = {.name = "classify",
                             .work = dh_check_classify,
                             .arg = &arg,
                             .until_ns = dh_now_ns() + 1000 * MS,
                             .all_ends_ns = dh_check_ends(c)};
    struct dh_stage_end end;
    run_child_stage(k, CLASSIFY, &stage, &end);
}

/* Verification takes three searches of this budget at most. */
static bool heal(struct chain *k)
{
    struct dh_check *c = k->c;
    if (!c->heals || k->sum.healable <= c->refused || dh_stage_interrupted() || budget_left(c) < 500 * MS)
        return false;
    uint64_t time = budget_left(c);
    struct dh_check_heal arg = {.c = c, .budget_ns = c->schedules ? time / 5 : least(time / 5, 4000 * MS)};
    struct dh_stage stage = {.name = "heal",
                             .work = dh_check_heal,
                             .arg = &arg,
                             .until_ns = dh_now_ns() + time,
                             .grace_ns = 0,
                             .all_ends_ns = dh_check_ends(c)};
    struct dh_stage_end end;
    run_child_stage(k, HEAL, &stage, &end);
    c->refused = k->sum.healable;
    return true;
}

/* ---- the chain ---- */

/* Every stage gets little time first, and more in every round that is needed: what is easy is done soon, a stage with
 * nothing to do takes nothing, and what is hard gets what is left. */
static void climb(struct chain *k)
{
    uint64_t quantum = k->c->budget_ns / 60;
    for (unsigned round = 0; goes_on(k); round++, quantum *= 2) {
        bool any = prove(k, quantum, round); /* what is known comes before looking for more */
        any |= scan(k);
        any |= run_with_noise(k);
        any |= prove_news(k, quantum, round);
        any |= explore(k, quantum);
        any |= prove_news(k, quantum, round); /* before verdicts on what was known before */
        any |= classify(k, quantum, false);
        any |= prove_static(k, quantum);
        any |= judge_ends(k, quantum);
        any |= weaken(k, quantum);
        any |= classify(k, quantum, false);
        any |= round && classify(k, quantum, true);
        if (!any || quantum > 2 * k->c->budget_ns || k->failures >= MOST_FAILURES) {
            k->why_over = k->failures >= MOST_FAILURES ? "its stages fail, see above"
                          : k->c->state->cannot[0]     ? "it cannot be searched"
                                                       : "what was tried again showed nothing new";
            break;
        }
    }
}

/* What healing did not need goes to the search for more, and what that finds is healed, too. */
static void climb_on(struct chain *k)
{
    bool more = true;
    while (more && !k->why_over && budget_left(k->c) >= k->c->budget_ns / 10) {
        climb(k);
        conclude(k);
        more = heal(k);
    }
}

/* Nobody has to guess why it took less time than it may. */
static void say_why_over(const struct chain *k)
{
    const struct dh_check *c = k->c;
    if (k->why_over && !dh_stage_interrupted() && budget_left(c) > c->budget_ns / 10)
        c->host->over_early(dh_now_ns() - c->began_ns, c->budget_ns, k->why_over);
}

enum dh_stage_result dh_check_chain(struct dh_check *c)
{
    struct chain k = {.c = c};
    bool whole = c->is_searchable && !c->only_run;
    if (whole) {
        c->in_haste = dh_check_run_estimate_ns(c) > c->budget_ns / HASTE_PART;
        derive_beside(&k);
    }
    if (!c->only_run)
        prepare_run(&k);
    enum dh_stage_result result = run_first(&k);
    if (result == DH_STAGE_DONE && whole) {
        if (!k.sum.goals || !dh_check_has_search_variant(c))
            scan(&k); /* while that is made; else, what was observed is proven first */
        prepare(&k);
        climb(&k);
        conclude(&k);
        heal(&k);
        climb_on(&k);
        say_unjudged(&k);
        say_why_over(&k);
    }
    dh_stage_end_beside(k.beside, c->state);
    c->interrupted = dh_stage_interrupted();
    return result;
}
