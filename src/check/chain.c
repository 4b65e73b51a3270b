/* Whose turn it is: time goes where something can still rise. */
#include "check/chain.h"

#include "cmd/command.h"
#include "cmd/prove_goals.h"
#include "heal/means.h"
#include "prove/engine_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MS 1000000ull
#define SCAN_GRACE 0
#define JUDGING_MORE (5000 * MS) /* for what the program comes to when nobody disturbs it */
#define SEARCH_GRACE (6000 * MS) /* what was found last may be on its way to become a witness */
/* How often in a row something may be tried without news. */
enum { BARREN_RUNS = 3, BARREN_EXPLORATIONS = 2, BARREN_ENDS = 2, WEAK_ROUNDS = 2 };

/* ---- what there is ---- */

unsigned dh_found_level(const struct dh_finding *f)
{
    return strcmp(f->level, "proven") == 0 ? 2 : strcmp(f->level, "observed") == 0 ? 1 : 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

bool dh_found_is_failure(const struct dh_finding *f)
{
    static const char *const kinds[] = {"deadlock",  "lost-wakeup", "indefinite-wait", "critical-wait",
                                        "assertion", "crash",       "use-after-free",  NULL};
    return dh_found_level(f) == 2 && is_one_of(f->kind, kinds);
}

bool dh_found_is_searched(const struct dh_finding *f)
{
    static const char *const kinds[] = {"race",          "deadlock",       "lost-wakeup", "indefinite-wait",
                                        "critical-wait", "use-after-free", NULL};
    return is_one_of(f->kind, kinds);
}

static unsigned rank(const struct dh_finding *f)
{
    static const char *const verdicts[] = {"destructive", "qos", "none", "no-failure"};
    unsigned v = 0;
    while (v < 3 && strcmp(verdicts[v], f->verdict) != 0)
        v++;
    return (2 - dh_found_level(f)) * 4 + v;
}

static int by_rank(const void *a, const void *b)
{
    const struct dh_finding *f = *(struct dh_finding *const *)a, *g = *(struct dh_finding *const *)b;
    if (rank(f) != rank(g))
        return rank(f) < rank(g) ? -1 : 1;
    return f->first_seen != g->first_seen ? (f->first_seen < g->first_seen ? -1 : 1) : strcmp(f->id, g->id);
}

static void take(void *arg, const struct dh_finding *f)
{
    struct dh_found *out = arg;
    struct dh_finding *copy = dh_goals_copy(f);
    dh_finding_set(&copy->witness, f->witness);
    dh_vec_push(&out->at, copy);
}

bool dh_check_found(const struct dh_check *c, struct dh_found *out, struct dh_err *err)
{
    struct dh_store_choice choice = {.since = c->since, .program = c->program};
    *out = (struct dh_found){0};
    struct dh_store *s = dh_store_open(c->db, DH_STORE_READ, err);
    bool ok = s && dh_store_each(s, &choice, take, out, err);
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

/* ---- what can still rise ---- */

/* What was seen gets its time again and again; what may be on some path, little. Where every order was tried, nothing
 * is left to be met. */
bool dh_check_is_goal(const struct dh_check *c, const struct dh_finding *f, bool statics)
{
    bool is_static = !dh_found_level(f) && strcmp(f->detector, "static") == 0;
    const struct dh_tried *tried = dh_talk_tried(c->talk, f->id);
    return is_static == statics && dh_found_level(f) < 2 && dh_found_is_searched(f) && !c->talk->exhausted &&
           !tried->settled && tried->spent_ns < c->budget_ns / (is_static ? 10 : 4);
}

bool dh_check_is_unclassified(const struct dh_check *c, const struct dh_finding *f, bool thorough)
{
    if (strcmp(f->kind, "race") != 0 || !dh_found_level(f))
        return false;
    unsigned done = dh_talk_tried(c->talk, f->id)->verdicts;
    bool none = strcmp(f->verdict, "none") == 0;
    return thorough ? done < 2 && (none || strcmp(f->verdict, "no-failure") == 0) : !done && none;
}

bool dh_check_is_healable(const struct dh_finding *f)
{
    static const char *const kinds[] = {"race", "deadlock", "atomicity", "view", NULL};
    return dh_found_level(f) && is_one_of(f->kind, kinds) && strcmp(f->verdict, "qos") != 0 &&
           !dh_heal_is_needless(f) && strcmp(f->healing, "verified") != 0;
}

/* Of all of them, in numbers. */
struct sum {
    unsigned level[3], goals, statics, suspects, destructive, unclassified, doubtful, failures, healable;
    unsigned score; /* grows with every finding, level and verdict */
};

static struct sum sum_up(const struct dh_check *c)
{
    static const char *const sections[] = {"atomicity", "view", NULL};
    struct sum s = {0};
    struct dh_found found;
    struct dh_err err = {0};
    if (!dh_check_found(c, &found, &err))
        dh_err_release(&err);
    for (size_t i = 0; i < found.at.n; i++) {
        const struct dh_finding *f = found.at.at[i];
        bool judged = strcmp(f->verdict, "none") != 0;
        s.level[dh_found_level(f)]++;
        s.goals += dh_check_is_goal(c, f, false);
        s.statics += dh_check_is_goal(c, f, true);
        s.unclassified += dh_check_is_unclassified(c, f, false);
        s.doubtful += dh_check_is_unclassified(c, f, true);
        s.suspects += dh_found_level(f) < 2 && !judged && is_one_of(f->kind, sections);
        s.destructive += strcmp(f->verdict, "destructive") == 0;
        s.failures += dh_found_is_failure(f) && !judged;
        s.healable += dh_check_is_healable(f);
        s.score += 1 + dh_found_level(f) + (judged && strcmp(f->verdict, "no-failure") != 0);
    }
    dh_found_release(&found);
    return s;
}

/* ---- time ---- */

static uint64_t end_of(const struct dh_check *c)
{
    return c->began_ns + c->budget_ns;
}

static uint64_t left(const struct dh_check *c)
{
    uint64_t now = dh_now_ns();
    return end_of(c) > now ? end_of(c) - now : 0;
}

/* Healing comes last, and needs some. */
static uint64_t left_to_climb(const struct dh_check *c, const struct sum *s)
{
    uint64_t kept = c->heals && s->healable ? c->budget_ns / 5 : 0, all = left(c);
    return all > kept ? all - kept : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool goes_on(const struct dh_check *c, const struct sum *s)
{
    return !dh_stage_interrupted() && left_to_climb(c, s) > 200 * MS;
}

/* ---- stages ---- */

struct chain {
    struct dh_check *c;
    struct sum sum;
    uint64_t proving_ns, classifying_ns, statics_ns; /* spent */
    unsigned barren_runs, barren_explorations, explorations, judged, weakened;
    unsigned told; /* bits of stages that had their line */
};

enum stage_name { SCAN, RUN, PROVE, CLASSIFY, HEAL };
static const char *const names[] = {"scan", "run", "prove", "classify", "heal"};

/* One line for a stage; more only for news. */
static void tell(struct chain *k, enum stage_name name, const struct dh_stage_end *end, bool news)
{
    const char *said = k->c->talk->said;
    if ((k->told & 1u << name) && !news && !k->c->tells_all)
        return;
    k->told |= 1u << name;
    if (end->failed && !end->late && !dh_stage_interrupted())
        said = "it did not come to its end";
    else if (!*said)
        said = end->late ? "its time was over" : "nothing new";
    fprintf(stderr, "check: %-8s %5.1f s  %s\n", names[name], (double)end->took_ns / 1e9, said);
    fflush(stderr);
}

/* Whether anything has risen. */
static bool go(struct chain *k, enum stage_name name, const struct dh_stage *stage, struct dh_stage_end *end)
{
    struct sum before = k->sum;
    dh_stage_run(stage, k->c->talk, end);
    k->sum = sum_up(k->c);
    bool news = k->sum.score != before.score;
    if (name == SCAN || name == RUN)
        dh_talk_say(k->c->talk, "%s%u observed, %u suspected", name == RUN && k->c->runs ? "with noise: " : "",
                    k->sum.level[1] + k->sum.level[2], k->sum.level[0]);
    if (!k->c->only_run && (name != RUN || k->c->talk->code == DH_EXIT_OK))
        tell(k, name, end, news);
    return news;
}

static void scan(struct chain *k)
{
    struct dh_stage stage = {.name = "scan",
                             .work = dh_check_scan,
                             .arg = k->c,
                             .until_ns = dh_now_ns() + k->c->budget_ns / 6,
                             .grace_ns = SCAN_GRACE,
                             .all_ends_ns = end_of(k->c)};
    struct dh_stage_end end;
    go(k, SCAN, &stage, &end);
}

/* However long it takes, the program is run: of a large one the variant may take as long as the budget, which begins
 * anew then but for a part. */
static void prepare_run(struct chain *k)
{
    struct dh_check *c = k->c;
    struct dh_stage stage = {
        .name = "run", .work = dh_check_prepare_run, .arg = c, .until_ns = UINT64_MAX, .all_ends_ns = UINT64_MAX};
    struct dh_stage_end end;
    dh_stage_run(&stage, c->talk, &end);
    if (end.took_ns > c->budget_ns / 6)
        c->began_ns += end.took_ns - c->budget_ns / 6;
}

/* A program that does not end by itself is ended when half of the time is over. */
static int run_first(struct chain *k)
{
    struct dh_check *c = k->c;
    struct dh_check_run arg = {.c = c, .is_first = true};
    struct dh_stage stage = {.name = "run",
                             .work = dh_check_run,
                             .arg = &arg,
                             .until_ns = c->only_run ? UINT64_MAX : dh_now_ns() + c->budget_ns / 2,
                             .grace_ns = SEARCH_GRACE,
                             .all_ends_ns = end_of(c),
                             .runs_program = true,
                             .is_ours = true};
    struct dh_stage_end end;
    go(k, RUN, &stage, &end);
    c->runs++;
    c->run_ns = end.took_ns;
    c->status = c->talk->status;
    c->status_is_ours = end.late || dh_stage_interrupted();
    dh_check_input_end(&c->input);
    return end.failed && !c->status_is_ours ? DH_EXIT_FAILURE : c->talk->code;
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
    if (k->barren_runs >= BARREN_RUNS || c->status_is_ours || !goes_on(c, &k->sum))
        return false;
    struct dh_check_run arg = {.c = c, .noise = noise_of(k), .seed = c->runs};
    uint64_t most = least(c->run_ns * 4 + 2000 * MS, left_to_climb(c, &k->sum) / 4);
    struct dh_stage stage = {.name = "run",
                             .work = dh_check_run,
                             .arg = &arg,
                             .until_ns = dh_now_ns() + most,
                             .grace_ns = SEARCH_GRACE,
                             .all_ends_ns = end_of(c),
                             .runs_program = true};
    struct dh_stage_end end;
    bool news = go(k, RUN, &stage, &end);
    c->runs++;
    k->barren_runs = news ? 0 : k->barren_runs + 1;
    return true;
}

/* What a variant for searching costs, once, is nobody's share. */
static void prepare(struct chain *k)
{
    struct dh_check_search arg = {.c = k->c};
    struct dh_stage stage = {.name = "prove",
                             .work = dh_check_prepare,
                             .arg = &arg,
                             .until_ns = dh_now_ns() + left(k->c) / 2,
                             .all_ends_ns = end_of(k->c)};
    struct dh_stage_end end;
    dh_stage_run(&stage, k->c->talk, &end);
    if (end.late)
        snprintf(k->c->talk->cannot, sizeof k->c->talk->cannot, "there was no time to make a variant for it");
}

static bool search(struct chain *k, void (*work)(void *, struct dh_talk *), struct dh_check_search arg,
                   uint64_t most_ns)
{
    struct dh_check *c = k->c;
    uint64_t now = dh_now_ns(), allowed = c->prove_ns > k->proving_ns ? c->prove_ns - k->proving_ns : 0;
    uint64_t time = least(least(most_ns, allowed), left_to_climb(c, &k->sum));
    if (c->talk->cannot[0] || time < 100 * MS)
        return false;
    arg.c = c;
    arg.until_ns = now + time;
    arg.seed = 1 + k->explorations;
    uint64_t more = work == dh_check_outcomes ? JUDGING_MORE : 500 * MS;
    struct dh_stage stage = {.name = "prove",
                             .work = work,
                             .arg = &arg,
                             .until_ns = least(now + time + more, end_of(c) + 500 * MS),
                             .grace_ns = SEARCH_GRACE,
                             .all_ends_ns = end_of(c)};
    struct dh_stage_end end;
    bool news = go(k, PROVE, &stage, &end);
    k->proving_ns += end.took_ns;
    if (arg.explores) {
        k->explorations++;
        k->barren_explorations = news ? 0 : k->barren_explorations + 1;
    }
    return true;
}

static bool prove(struct chain *k, uint64_t quantum, bool thorough)
{
    if (!k->sum.goals || !goes_on(k->c, &k->sum))
        return false;
    return search(k, dh_check_search, (struct dh_check_search){.goal_ns = quantum, .thorough = thorough},
                  left_to_climb(k->c, &k->sum) / (thorough ? 3 : 5));
}

static bool prove_static(struct chain *k, uint64_t quantum)
{
    uint64_t most = k->c->budget_ns / 5, began = dh_now_ns();
    if (!k->sum.statics || k->statics_ns >= most || !goes_on(k->c, &k->sum))
        return false;
    bool any = search(k, dh_check_search, (struct dh_check_search){.goal_ns = quantum / 2, .statics = true},
                      least(most - k->statics_ns, left_to_climb(k->c, &k->sum) / 4));
    k->statics_ns += dh_now_ns() - began;
    return any;
}

/* There may be what no run has shown. */
static bool explore(struct chain *k, uint64_t quantum)
{
    if (k->c->talk->explored || k->barren_explorations >= BARREN_EXPLORATIONS || !goes_on(k->c, &k->sum))
        return false;
    return search(k, dh_check_search, (struct dh_check_search){.explores = true}, quantum * 2);
}

/* What belongs together and is not; once also when nothing worse is known, for whatever makes the program end wrongly.
 */
static bool judge_ends(struct chain *k, uint64_t quantum)
{
    unsigned most = k->sum.suspects ? BARREN_ENDS : !k->sum.destructive;
    if (k->judged >= most || !goes_on(k->c, &k->sum))
        return false;
    k->judged++;
    return search(k, dh_check_outcomes, (struct dh_check_search){0}, quantum * 2);
}

/* What atomics that order less than they should lead to shows under no other memory model. */
static bool weaken(struct chain *k, uint64_t quantum)
{
    if (k->weakened >= WEAK_ROUNDS || !goes_on(k->c, &k->sum))
        return false;
    k->weakened++;
    return search(k, dh_check_outcomes, (struct dh_check_search){.weak = true}, quantum * 2);
}

static bool classify(struct chain *k, uint64_t quantum, bool thorough)
{
    struct dh_check *c = k->c;
    unsigned wanted = thorough ? k->sum.doubtful : k->sum.unclassified;
    uint64_t allowed = c->classify_ns > k->classifying_ns ? c->classify_ns - k->classifying_ns : 0;
    uint64_t time = least(least(allowed, wanted * quantum * 2 + 500 * MS), left_to_climb(c, &k->sum) / 2);
    if ((!wanted && !k->sum.failures) || time < 100 * MS || !goes_on(c, &k->sum))
        return false;
    struct dh_check_classify arg = {.c = c, .budget_ns = time, .thorough = thorough};
    struct dh_stage stage = {.name = "classify",
                             .work = dh_check_classify,
                             .arg = &arg,
                             .until_ns = dh_now_ns() + time + 1000 * MS,
                             .grace_ns = SEARCH_GRACE,
                             .all_ends_ns = end_of(c)};
    struct dh_stage_end end;
    go(k, CLASSIFY, &stage, &end);
    k->classifying_ns += end.took_ns;
    return true;
}

/* The policy's verification takes three searches of the budget that it is given, at most. */
static void heal(struct chain *k)
{
    struct dh_check *c = k->c;
    if (!c->heals || !k->sum.healable || dh_stage_interrupted() || left(c) < 500 * MS)
        return;
    uint64_t time = left(c);
    struct dh_check_heal arg = {.c = c, .budget_ns = least(time / 5, 4000 * MS)};
    struct dh_stage stage = {.name = "heal",
                             .work = dh_check_heal,
                             .arg = &arg,
                             .until_ns = dh_now_ns() + time,
                             .grace_ns = 0,
                             .all_ends_ns = end_of(c)};
    struct dh_stage_end end;
    go(k, HEAL, &stage, &end);
}

/* ---- the chain ---- */

/* Everybody gets little time first, and more in every round that is needed: what is easy is done soon, whoever has
 * nothing to do takes nothing, and what is hard gets what is left. */
static void climb(struct chain *k)
{
    uint64_t quantum = k->c->budget_ns / 60;
    for (unsigned round = 0; goes_on(k->c, &k->sum); round++, quantum *= 2) {
        bool any = run_with_noise(k);
        any |= prove(k, quantum, round);
        any |= classify(k, quantum, false);
        any |= explore(k, quantum);
        any |= prove_static(k, quantum);
        any |= judge_ends(k, quantum);
        any |= weaken(k, quantum);
        any |= classify(k, quantum, false);
        any |= round && classify(k, quantum, true);
        if (!any)
            break;
    }
}

int dh_check_chain(struct dh_check *c)
{
    struct chain k = {.c = c};
    bool whole = c->is_searchable && !c->only_run;
    if (whole)
        scan(&k);
    if (!c->only_run)
        prepare_run(&k);
    int code = run_first(&k);
    if (code == DH_EXIT_OK && whole) {
        prepare(&k);
        climb(&k);
        heal(&k);
    }
    c->interrupted = dh_stage_interrupted();
    return code;
}
