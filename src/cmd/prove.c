/* deadheat prove: search schedules for one that leads to the defect, replay it, keep it as a witness. */
#include "base/alloc.h"
#include "base/str.h"
#include "classify/trial.h"
#include "cmd/campaign_progress.h"
#include "cmd/run_options.h"
#include "cmd/subjects.h"
#include "cmd/terminal.h"
#include "launch/open_subject.h"
#include "prove/baseline.h"
#include "prove/goals.h"
#include "prove/mpi_campaign.h"
#include "prove/schedule_text.h"
#include "report/text.h"
#include "search/strategy.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROVE_CHILDREN = -1 }; /* instead of an exit code: the program has no threads, but children of it have */

struct proving {
    const struct dh_parsed *parsed;
    const char *db;
    char *folder; /* of witnesses */
    struct dh_subject subject;
    struct dh_campaign_options options;
    struct dh_goals goals;
    bool quiet, whole;
    struct dh_campaign_line line;
    unsigned width;
    struct dh_hosting_check hosting;
    uint64_t began_ns, opened_ns; /* with its variant */
    char late[200 + DH_HOSTING_WORDS];
    dh_engine_marks *marks; /* of a section file, or NULL */
    struct dh_mpi *mpi;     /* NULL: alone */
};

/* ---- numbers in options ---- */

static bool read_shard(const char *text, struct dh_campaign_options *o)
{
    unsigned i, n;
    char rest;
    o->shards = 1;
    if (!text)
        return true;
    if (sscanf(text, "%u/%u%c", &i, &n, &rest) == 2 && i >= 1 && i <= n && n <= 1000000) {
        o->shard = i - 1;
        o->shards = n;
        return true;
    }
    dh_notice("prove: --shard=%s: expected I/N with I from 1 to N", text);
    return false;
}

static bool read_strategy(const char *name)
{
    if (!name || dh_strategy_by_name(name))
        return true;
    struct dh_str all = {0};
    for (size_t i = 0; dh_strategies[i]; i++)
        dh_str_addf(&all, "%s%s", i ? ", " : "", dh_strategies[i]->name);
    dh_notice("prove: --strategy=%s: there is none; there are %s", name, all.at);
    dh_str_release(&all);
    return false;
}

static bool read_options(const struct dh_parsed *p, struct dh_campaign_options *o)
{
    uint64_t jobs = 1, preemptions = UINT32_MAX, depth = 0;
    const char *budget = dh_option_get(p, "budget");
    *o = (struct dh_campaign_options){.seed = 1,
                                      .strategy = dh_option_get(p, "strategy"),
                                      .spurious = dh_option_given(p, "spurious"),
                                      .first = dh_option_given(p, "first"),
                                      .by_itself = dh_option_given(p, "id"),
                                      .as_found = dh_option_given(p, "as-found"),
                                      .no_prefix = dh_option_given(p, "no-prefix"),
                                      .no_hint = dh_option_given(p, "no-hint"),
                                      .keep_first = dh_option_given(p, "keep-first")};
    if (!dh_read_time(budget, &o->budget_ns)) {
        dh_notice("prove: --budget=%s: expected a time such as 10s, 500ms or 5m", budget);
        return false;
    }
    if (!dh_option_number(p, "-j", 1, 1024, &jobs) || !dh_option_number(p, "seed", 0, UINT64_MAX, &o->seed) ||
        !dh_option_number(p, "preemptions", 0, UINT32_MAX, &preemptions) ||
        !dh_option_number(p, "depth", 1, 100000000, &depth) ||
        !dh_option_number(p, "schedules", 1, UINT64_MAX, &o->schedules) || !read_shard(dh_option_get(p, "shard"), o) ||
        !read_strategy(o->strategy))
        return false;
    o->jobs = (unsigned)jobs;
    o->preemptions = (uint32_t)preemptions;
    o->depth = (uint32_t)depth;
    return true;
}

/* ---- printing ---- */

static void clear_line(struct proving *p)
{
    dh_campaign_progress_clear(&p->line);
}

static void progress(void *arg, const struct dh_campaign_state *s)
{
    struct proving *p = arg;
    if (!p->quiet)
        dh_campaign_progress(&p->line, s);
}

static void print_accesses(const struct dh_finding *f)
{
    for (size_t i = 0; i < f->accesses.n; i++) {
        const struct dh_finding_access *a = &f->accesses.at[i];
        struct dh_str s = {0};
        dh_text_place(&s, a);
        printf("  T%u  %s (%s%s%s)\n", a->thread, s.at, a->op, a->object[0] ? " " : "", a->object);
        dh_str_release(&s);
    }
}

static void print_proof(struct proving *p, const struct dh_proof *proof, const char *path)
{
    struct dh_str title = {0}, steps = {0};
    struct dh_finding as_proven = *proof->finding;
    as_proven.level = DH_LEVEL_PROVEN;
    dh_text_title(&title, &as_proven);
    printf("proven: %s  [%.8s]\n", title.at, proof->finding->id);
    print_accesses(proof->finding);
    printf("  found by %s in %.3f s after %llu schedules; %u steps, %u context switches (found with %u and %u); "
           "replayed with "
           "kernel threads\n",
           proof->strategy, (double)proof->time_ns / 1e9, (unsigned long long)proof->schedules, proof->schedule->n,
           proof->switches, proof->steps_before, proof->switches_before);
    dh_schedule_text(&steps, &p->subject, proof->schedule, proof->end, p->width, p->whole);
    printf("\n%s\n", steps.at);
    printf("  deadheat replay %s -- %s\n\n", dh_text_path(path), p->subject.called);
    fflush(stdout);
    dh_str_release(&title);
    dh_str_release(&steps);
}

static bool proven(void *arg, const struct dh_proof *proof)
{
    struct proving *p = arg;
    struct dh_err err = {0};
    char *path;
    clear_line(p);
    bool ok = dh_proof_keep(proof, &p->subject, p->db, p->folder, &path, &err);
    if (ok && !p->quiet)
        print_proof(p, proof, path);
    if (!ok)
        dh_fail(&err, 0);
    free(path);
    return ok;
}

/* Accesses that nothing orders, but that no schedule had pending at once within the budget. */
static void observed(void *arg, const struct dh_finding *f)
{
    struct proving *p = arg;
    struct dh_err err = {0};
    struct dh_str title = {0};
    clear_line(p);
    if (!dh_observed_keep(f, &p->subject, p->db, &err))
        dh_fail(&err, 0);
    else if (!p->quiet) {
        dh_text_title(&title, f);
        printf("observed, not proven: %s  [%.8s]\n", title.at, f->id);
        print_accesses(f);
    }
    dh_str_release(&title);
}

static void print_goals(const struct dh_goals *g)
{
    for (size_t i = 0; i < g->goals.n; i++) {
        const struct dh_goal *goal = &g->goals.at[i];
        struct dh_str title = {0};
        if (goal->verdict == DH_GOAL_COUNTED)
            continue;
        dh_text_title(&title, goal->finding);
        if (goal->more)
            dh_str_addf(&title, ", and %u more pair%s of places in these functions", goal->more,
                        goal->more == 1 ? "" : "s");
        printf("%.8s  %s: %s%s%s%s\n", goal->finding->id, title.at, dh_goal_status_words(goal->verdict),
               goal->why[0] ? " (" : "", goal->why, goal->why[0] ? ")" : "");
        dh_str_release(&title);
    }
}

static void print_result(const struct proving *p, const struct dh_campaign_result *r)
{
    struct dh_str line = {0};
    print_goals(&p->goals);
    dh_campaign_summary(&line, r, &p->options, p->goals.goals.n);
    printf("%s\n", line.at);
    dh_str_release(&line);
}

/* ---- the job ---- */

static int print_no_threads(const struct proving *p)
{
    dh_notice("prove: %s: %s: there is nothing to interleave", p->subject.called,
              p->hosting.why[0] ? p->hosting.why : "it ended without having created a thread");
    return DH_EXIT_USAGE;
}

/* It made no thread, but children of it did. */
static bool has_children(const struct proving *p)
{
    return p->subject.children.at.n && !p->subject.start.follow;
}

/* What the time went into that left none for a schedule. */
static const char *late_words(struct proving *p)
{
    snprintf(p->late, sizeof p->late,
             "no schedule was made: the time (%.1f s) was over after opening the program and its variant (%.1f s) and "
             "comparing it with a native run%s%s",
             (double)p->options.budget_ns / 1e9, (double)(p->opened_ns - p->began_ns) / 1e9,
             p->hosting.why[0] ? ": " : "", p->hosting.why);
    return p->late;
}

/* What was in the way of the search: of all of it, or of a part. */
static const char *obstacle(struct proving *p, const struct dh_campaign_result *r)
{
    return r->cannot           ? r->cannot
           : r->late           ? late_words(p)
           : r->left_out       ? r->left_out
           : p->hosting.why[0] ? p->hosting.why
                               : NULL;
}

static int print_end(struct proving *p, const struct dh_campaign_result *r)
{
    const char *cannot = obstacle(p, r);
    clear_line(p);
    if (r->no_threads && !r->proven)
        return has_children(p) ? PROVE_CHILDREN : print_no_threads(p);
    if (cannot)
        dh_notice("prove: %s: %s", p->subject.called, cannot);
    if (r->odd)
        dh_notice("prove: %s: %s", p->subject.called, r->odd);
    if (!p->quiet && (!(r->cannot || r->late) || r->proven || r->schedules))
        print_result(p, r);
    return r->proven ? DH_EXIT_FINDINGS : cannot ? DH_EXIT_FAILURE : DH_EXIT_OK;
}

/* False: there is nothing to search, and `code` is the command's. */
static bool is_hosted(struct proving *p, int *code)
{
    struct dh_err err = {0};
    if (!dh_hosting_check(&p->subject, dh_hosting_patience(p->options.budget_ns), &p->hosting, &err)) {
        *code = dh_fail(&err, DH_EXIT_FAILURE);
        return false;
    }
    p->options.least_ns = dh_hosting_least_ns(&p->hosting);
    p->options.accesses = p->hosting.accesses;
    p->options.doubt = p->hosting.why[0] ? p->hosting.why : NULL;
    if (p->hosting.verdict == DH_HOSTING_NO_THREADS)
        *code = has_children(p) ? PROVE_CHILDREN : print_no_threads(p);
    else if (p->hosting.verdict == DH_HOSTING_WRONG) {
        dh_notice("prove: %s: %s", p->subject.called, p->hosting.why);
        *code = DH_EXIT_FAILURE;
    } else
        return true;
    return false;
}

static int run_campaign(struct proving *p)
{
    struct dh_err err = {0};
    struct dh_campaign_result r;
    struct dh_campaign_host host = {progress, proven, observed, dh_interrupted, p};
    dh_interrupts_begin();
    struct dh_goal *goals = p->goals.goals.at;
    bool ok = p->mpi ? dh_mpi_campaign(p->mpi, &p->subject, &p->options, goals, p->goals.goals.n, &host, &r, &err)
                     : dh_campaign(&p->subject, &p->options, goals, p->goals.goals.n, &host, &r, &err);
    dh_interrupts_end();
    clear_line(p);
    bool prints = !p->mpi || dh_mpi_rank(p->mpi) == 0;
    ok = ok && (!prints || dh_store_make(p->db, &err)); /* not earlier: other ranks read the store when they begin */
    int code = ok         ? prints ? print_end(p, &r) : DH_EXIT_OK
               : err.text ? dh_fail(&err, DH_EXIT_FAILURE)
                          : DH_EXIT_FAILURE;
    dh_campaign_result_release(&r);
    return code;
}

/* Instead of races and the like: ends that are wrong by their exit status. */
static int prove_wrong_ends(struct proving *p)
{
    enum { BASELINE_NS = 500000000 };
    struct dh_baseline right;
    int code = DH_EXIT_USAGE;
    if (dh_baseline_collect_status(&right, &p->subject, BASELINE_NS)) {
        struct dh_adversary_setup judged = dh_baseline_adversary(&right, "", NULL);
        p->options.judged = &judged;
        code = run_campaign(p);
    } else
        dh_notice("prove: --wrong-ends: %s does not end with exit status 0 when nobody disturbs it", p->subject.called);
    dh_baseline_release(&right);
    return code;
}

static int prove_program(struct proving *p)
{
    struct dh_err err = {0};
    unsigned already = 0;
    const char *id = dh_option_get(p->parsed, "id");
    struct dh_goals_wanted wanted = {.db = p->db, .id = id, .program = p->subject.program, .build = p->subject.build};
    if (dh_option_given(p->parsed, "wrong-ends"))
        return prove_wrong_ends(p);
    if (!dh_option_given(p->parsed, "explore") && !dh_goals_read(&p->goals, &wanted, &already, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if (id && !p->goals.goals.n) {
        dh_notice("prove: no finding %s in %s", id, p->db);
        return DH_EXIT_USAGE;
    }
    int code = run_campaign(p);
    dh_goals_release(&p->goals);
    return code;
}

static bool read_sections(struct proving *p, struct dh_err *err)
{
    const char *path = dh_option_get(p->parsed, "sections");
    if (!path)
        return true;
    p->options.marks = p->marks = dh_xcalloc(p->subject.start.places + 1, sizeof *p->marks);
    return dh_place_names_sections(p->subject.places, path, p->marks, err);
}

static int prove_subject(struct proving *p)
{
    struct dh_err err = {0};
    int code;
    if (!read_sections(p, &err)) {
        dh_notice("prove: --sections: %s", err.text);
        dh_err_release(&err);
        return DH_EXIT_USAGE;
    }
    if (!is_hosted(p, &code))
        return code;
    if (!dh_option_given(p->parsed, "mpi"))
        return prove_program(p);
    p->mpi = dh_mpi_open(&err);
    if (!p->mpi) {
        dh_notice("prove: --mpi: %s", err.text);
        dh_err_release(&err);
        return DH_EXIT_USAGE;
    }
    if (dh_mpi_rank(p->mpi))
        p->quiet = true;
    code = prove_program(p);
    dh_mpi_close(p->mpi);
    return code;
}

/* ---- child processes ---- */

static int prove_child(struct proving *p, const struct dh_child_process *c)
{
    struct dh_err err = {0};
    if (!dh_follow_child(&p->subject, c, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if (!p->quiet)
        printf("child process %u: %s\n", c->number, c->command);
    free(p->marks);
    p->options.marks = p->marks = NULL;
    return prove_subject(p);
}

/* Harnesses run each test in a child: those that made threads share the time. */
static int prove_children(struct proving *p)
{
    size_t n = p->subject.children.at.n;
    int code = DH_EXIT_OK;
    dh_notice(
        "prove: %s makes no thread itself; %zu of its %u child process%s do%s: exploring %s (--child=N|NAME takes one)",
        p->subject.called, n, p->subject.children.all, p->subject.children.all == 1 ? "" : "es", n == 1 ? "es" : "",
        n == 1 ? "that" : "each in turn");
    uint64_t until = dh_now_ns() + p->options.budget_ns;
    for (size_t i = 0; i < n && dh_now_ns() < until && !dh_interrupted(p); i++) {
        p->options.budget_ns = (until - dh_now_ns()) / (n - i);
        int result = prove_child(p, &p->subject.children.at.at[i]);
        code = i ? dh_worse_exit(code, result) : result;
        if (p->options.first && result == DH_EXIT_FINDINGS)
            break;
    }
    return code;
}

static int prove_with(const struct dh_parsed *parsed)
{
    struct proving p = {
        .parsed = parsed, .db = dh_option_get(parsed, "db"), .width = dh_terminal_width(STDOUT_FILENO, 120)};
    int code = DH_EXIT_USAGE;
    if (!read_options(parsed, &p.options))
        return code;
    p.began_ns = dh_now_ns();
    dh_deadline_narrow(p.began_ns + p.options.budget_ns); /* of everything: variants, replays, what is printed */
    if (!dh_open_program("prove", parsed, &p.subject, &p.folder, &code))
        return code;
    p.opened_ns = dh_now_ns();
    p.quiet = dh_option_given(parsed, "quiet");
    p.whole = dh_option_given(parsed, "whole");
    p.subject.start.fresh = dh_option_given(parsed, "fresh");
    code = prove_subject(&p);
    code = code == PROVE_CHILDREN ? prove_children(&p) : code;
    dh_subject_release(&p.subject);
    free(p.marks);
    free(p.folder);
    return code;
}

static int run_prove(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_program(self, argc, argv, prove_with);
}

static const struct dh_option options[] = {
    {"budget", DH_OPTION_STRING, "TIME", "10s", "how long all of it may take, at most: 10s, 500ms, 5m"},
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings; made if missing"},
    {"id", DH_OPTION_STRING, "ID", NULL, "prove only the finding whose id begins so"},
    {"explore", DH_OPTION_FLAG, NULL, NULL, "look for everything, whatever the store holds"},
    {"wrong-ends", DH_OPTION_FLAG, NULL, NULL,
     "look for schedules that end with an exit status other than 0, instead of races and the like"},
    {"first", DH_OPTION_FLAG, NULL, NULL, "end with the first that is proven"},
    {"-j", DH_OPTION_STRING, "N", "1", "searches at a time"},
    {"shard", DH_OPTION_STRING, "I/N", NULL, "take the Ith of N parts of the campaign; the same parts every time"},
    {"mpi", DH_OPTION_FLAG, NULL, NULL,
     "under Open MPI's mpirun: every process searches, the first one hands out parts and keeps what is proven"},
    {"seed", DH_OPTION_STRING, "N", "1", "of what is chosen at random"},
    {"strategy", DH_OPTION_STRING, "NAME", NULL, "only this way of choosing schedules"},
    {"preemptions", DH_OPTION_STRING, "N", NULL, "schedules with at most so many preemptions"},
    {"depth", DH_OPTION_STRING, "N", NULL, "schedules of at most so many decisions"},
    {"schedules", DH_OPTION_STRING, "N", NULL, "at most so many per search"},
    {"sections", DH_OPTION_STRING, "FILE", NULL,
     "sections that are meant to be atomic (docs/formats/sections.md): schedules that no serial one equals are looked "
     "for, too"},
    DH_HEAL_OPTIONS,
    {"fresh", DH_OPTION_FLAG, NULL, NULL,
     "each schedule in a fresh process, where the kernel does what cannot be undone; chosen by itself where that is "
     "needed"},
    DH_CHILD_OPTION,
    {"spurious", DH_OPTION_FLAG, NULL, NULL, "waits for conditions may also end by themselves, as they may"},
    {"as-found", DH_OPTION_FLAG, NULL, NULL,
     "witnesses are kept as they were found, not with the fewest context switches"},
    {"no-prefix", DH_OPTION_FLAG, NULL, NULL,
     "for measurements: goals are not looked for from beginnings that the program's own schedules give"},
    {"no-hint", DH_OPTION_FLAG, NULL, NULL, "for measurements: the search is not led towards the second access"},
    {"keep-first", DH_OPTION_FLAG, NULL, NULL, "for measurements: the thread of the first access is not held there"},
    {"input", DH_OPTION_STRING, "FILE", NULL, "standard input of the program; without it there is none"},
    {"-o", DH_OPTION_STRING, "FOLDER", NULL, "where witnesses go; without it the folder 'witnesses' beside the store"},
    {"whole", DH_OPTION_FLAG, NULL, NULL, "show long interleavings whole"},
    {"quiet", DH_OPTION_FLAG, NULL, NULL, "store what is proven and print nothing"},
    {0}};

const struct dh_command dh_command_prove = {
    .name = "prove",
    .usage = "[OPTION...] -- PROG [ARG...]",
    .summary = "search for a schedule that shows a defect, and keep it as a witness",
    .description =
        "Runs the program again and again under a scheduler of its own that decides before every synchronisation and\n"
        "every access that matters which thread goes on, and restores its memory in between: thousands of schedules a\n"
        "second. What the store holds of the program (races, deadlocks, ...) is looked for; if it holds nothing,\n"
        "everything is: races (two accesses pending on the same bytes, one writes, not both atomic), deadlocks, lost\n"
        "wake-ups, failed assertions, crashes, uses of freed memory.\n\n"
        "What is found is run again in a fresh process with real threads; only then it is proven. The witness, with "
        "as\n"
        "few context switches as can be, is a text file that 'deadheat replay' runs; the finding rises to level "
        "proven.\n\n"
        "What was not found is never called absent: 'exhausted' and 'refuted within bounds' say that every order of "
        "the\n"
        "visible operations was tried with this input, 'budget spent' that time came first. Ctrl-C keeps what was "
        "found.\n\n"
        "Exit status 0: nothing was proven; 1: something was; 2: bad usage, or a program without threads; 3: it "
        "cannot\n"
        "be explored.",
    .examples = "  deadheat check -- ./bank; deadheat prove -- ./bank\n  deadheat prove --budget=1m -j 2 -- ./queue 4\n"
                "  deadheat prove --id=3f2a -- ./server --once\n  deadheat prove --shard=2/8 --budget=1h -- ./server\n"
                "  mpirun -n 16 --hostfile machines deadheat prove --mpi --budget=1h -- ./server\n",
    .options = options,
    .run = run_prove,
};
