/* deadheat classify: does a race matter? Runs with stale but legal values, what fails, and the table of it. */
#include "base/str.h"
#include "classify/keep.h"
#include "classify/oracle.h"
#include "cmd/classify_print.h"
#include "cmd/run_options.h"
#include "cmd/subjects.h"
#include "cmd/terminal.h"
#include "launch/open_subject.h"
#include "prove/baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASELINE_LEAST_NS 3000000000ull

enum { CLASSIFY_CHILD = -1 }; /* instead of an exit code: the program has no threads, but a child of it has */

struct classifying {
    const struct dh_parsed *parsed;
    const char *db;
    char *folder; /* of witnesses */
    struct dh_subject subject;
    struct dh_classify_options options;
    struct dh_hosting_check hosting;
    struct dh_baseline baseline;
    struct dh_races races;
    struct dh_racy_variables variables;
    struct dh_classified_table table;
    bool quiet, whole, as_json;
    unsigned destructive;
};

/* ---- printing ---- */

static void progress(void *arg, const char *variable, const char *what, uint64_t left_ns)
{
    struct classifying *c = arg;
    if (!c->quiet)
        dh_classify_progress(variable, what, left_ns);
}

static bool classified(void *arg, const struct dh_classified *d)
{
    struct classifying *c = arg;
    struct dh_err err = {0};
    char *path;
    dh_classified_table_add(&c->table, d);
    c->destructive += d->verdict == DH_VERDICT_DESTRUCTIVE;
    progress(c, NULL, NULL, 0);
    bool ok = dh_classified_keep(d, &c->subject, c->db, c->folder, &path, &err);
    if (!ok)
        dh_fail(&err, 0);
    else if (c->as_json) {
        char *json = dh_classified_json(d, path ? path : "", NULL);
        printf("%s\n", json);
        free(json);
    } else if (!c->quiet)
        dh_classified_print(d, &c->subject, path ? path : "", c->whole);
    free(path);
    return ok;
}

/* ---- the job ---- */

static uint64_t baseline_ns(const struct classifying *c)
{
    uint64_t part = c->options.budget_ns / 4;
    return part > BASELINE_LEAST_NS ? part : BASELINE_LEAST_NS;
}

static int no_baseline(struct classifying *c)
{
    if (c->baseline.no_threads && c->subject.children.at.n && !c->subject.start.follow)
        return CLASSIFY_CHILD;
    if (c->baseline.no_threads) {
        dh_notice("classify: %s ended without having created a thread: nobody else can read what it writes",
                  c->subject.called);
        return DH_EXIT_USAGE;
    }
    char *words = dh_subject_explain_places(&c->subject, c->baseline.cannot);
    dh_notice("classify: %s: no baseline: %s", c->subject.called, words);
    free(words);
    return DH_EXIT_FAILURE;
}

/* Is the program itself in the engine? If not, that is why there is no baseline. */
static bool compare_with_native(struct classifying *c, struct dh_err *err)
{
    if (!dh_hosting_check(&c->subject, dh_hosting_patience(c->options.budget_ns), &c->hosting, err))
        return false;
    c->options.doubt = c->hosting.verdict == DH_HOSTING_DOUBTFUL ? c->hosting.why : NULL;
    c->baseline.no_threads = c->hosting.verdict == DH_HOSTING_NO_THREADS;
    if (c->hosting.verdict == DH_HOSTING_WRONG)
        c->baseline.cannot = dh_strdup(c->hosting.why);
    if (c->as_json && c->hosting.why[0]) {
        char *json = dh_hosting_json(&c->hosting);
        printf("{\"baseline\":%s}\n", json);
        free(json);
    }
    return true;
}

/* A program that the engine cannot host runs free. */
static bool collect_baseline(struct classifying *c, struct dh_err *err)
{
    uint64_t time_ns = baseline_ns(c);
    progress(c, "baseline", "every variable as it is", time_ns);
    bool ok = compare_with_native(c, err);
    if (ok && !c->baseline.cannot && !c->baseline.no_threads)
        ok = dh_baseline_collect(&c->baseline, &c->subject, time_ns, err);
    progress(c, NULL, NULL, 0);
    bool prints = ok && !c->quiet && !c->as_json;
    if (ok && c->baseline.cannot && !c->options.model) {
        char *words = dh_subject_explain_places(&c->subject, c->baseline.cannot);
        if (!prints || c->hosting.why[0])
            dh_notice("classify: %s: %s", c->subject.called, c->hosting.why[0] ? c->hosting.why : words);
        if (prints)
            printf("threads run free, nothing will replay: the engine cannot run %s: %s\n\n", c->subject.called, words);
        c->options.free = true;
        free(words);
    } else if (prints && !c->baseline.no_threads && !c->baseline.cannot)
        dh_baseline_print(&c->baseline);
    return ok;
}

static int run_campaign(struct classifying *c)
{
    struct dh_err err = {0};
    struct dh_classify_host host = {progress, classified, dh_interrupted, c};
    dh_interrupts_begin();
    bool ok = c->options.free || collect_baseline(c, &err);
    bool has_baseline = ok && (c->options.free || (!c->baseline.no_threads && !c->baseline.cannot));
    ok = ok && (!has_baseline || dh_classify(&c->subject, &c->baseline, &c->variables, &c->options, &host, &err));
    dh_interrupts_end();
    progress(c, NULL, NULL, 0);
    if (!ok)
        return err.text ? dh_fail(&err, DH_EXIT_FAILURE) : DH_EXIT_FAILURE;
    if (!has_baseline)
        return no_baseline(c);
    if (!c->quiet && !c->as_json)
        dh_classified_table_print(&c->table);
    return c->destructive ? DH_EXIT_FINDINGS : c->hosting.why[0] || c->baseline.cannot ? DH_EXIT_FAILURE : DH_EXIT_OK;
}

/* ---- what is to be classified ---- */

static bool take_named(struct classifying *c, const char *name, int *code)
{
    struct dh_str near = {0};
    dh_str_add(&near, "");
    bool ok = dh_racy_variables_add_by_name(&c->variables, &c->subject, name, &near);
    if (!ok) {
        for (char *p = near.at; *p; p++)
            if (*p == '\n')
                *p = p[1] ? ',' : 0;
        dh_notice("classify: --variable=%s: no such variable in %s%s%s", name, c->subject.called,
                  near.at[0] ? "; there are: " : "", near.at);
        *code = DH_EXIT_USAGE;
    }
    dh_str_release(&near);
    if (!ok)
        return false;
    struct dh_racy_variable *v = &c->variables.at.at[0];
    for (size_t i = 0; i < c->races.at.n; i++)
        if (strcmp(c->races.at.at[i]->variable, name) == 0)
            dh_racy_variable_add_finding(v, &c->subject, c->races.at.at[i]);
    return true;
}

static bool take_found(struct classifying *c, const char *id, int *code)
{
    size_t elsewhere = 0;
    for (size_t i = 0; i < c->races.at.n; i++)
        elsewhere += !dh_racy_variables_add(&c->variables, &c->subject, c->races.at.at[i]);
    if (c->variables.at.n)
        return true;
    if (elsewhere)
        dh_notice("classify: the places of %zu race%s in %s are not in this build of %s; check it again", elsewhere,
                  elsewhere == 1 ? "" : "s", c->db, c->subject.called);
    else if (id)
        dh_notice("classify: no race %s that was observed or proven in %s", id, c->db);
    else
        dh_notice("classify: %s holds no race of %s that was observed or proven; 'deadheat check -- %s' looks for "
                  "them, --variable=NAME takes any variable",
                  c->db, c->subject.called, c->subject.called);
    *code = DH_EXIT_USAGE;
    return false;
}

/* An oracle that refuses the output of an undisturbed run judges nothing. */
static bool oracle_holds(struct classifying *c, int *code)
{
    struct dh_err err = {0};
    const char *command = c->options.oracle;
    if (!command || dh_oracle_check(command, &c->subject, &err))
        return true;
    *code = dh_fail(&err, DH_EXIT_USAGE);
    return false;
}

static int classify_program(struct classifying *c)
{
    struct dh_err err = {0};
    const char *id = dh_option_get(c->parsed, "id"), *name = dh_option_get(c->parsed, "variable");
    int code = DH_EXIT_OK;
    if (!dh_races_read(&c->races, c->db, id, 0, &c->subject, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if ((name ? take_named(c, name, &code) : take_found(c, id, &code)) && oracle_holds(c, &code))
        code = run_campaign(c);
    dh_classified_table_release(&c->table);
    dh_racy_variables_release(&c->variables);
    dh_races_release(&c->races);
    dh_baseline_release(&c->baseline);
    return code;
}

static bool read_options(const struct dh_parsed *p, struct dh_classify_options *o)
{
    const char *budget = dh_option_get(p, "budget");
    *o = (struct dh_classify_options){.model = dh_option_get(p, "model"),
                                      .oracle = dh_option_get(p, "oracle"),
                                      .alone = dh_option_given(p, "alone"),
                                      .free = dh_option_given(p, "free-running"),
                                      .systematic = dh_option_given(p, "systematic")};
    if (!dh_read_time(budget, &o->budget_ns)) {
        dh_notice("classify: --budget=%s: expected a time such as 10s, 500ms or 5m", budget);
        return false;
    }
    if (!dh_option_number(p, "runs", 1, 1000000000, &o->runs) || !dh_option_number(p, "seed", 1, UINT32_MAX, &o->seed))
        return false;
    o->runs_most = dh_option_given(p, "runs") ? o->runs : 0;
    return true;
}

/* A harness makes no thread itself: races are tried in the first of its child processes that does. */
static int classify_child(struct classifying *c)
{
    struct dh_err err = {0};
    const struct dh_child_process *child = &c->subject.children.at.at[0];
    dh_notice("classify: %s makes no thread itself; its child process %u (%s) does (--child=N|NAME takes another)",
              c->subject.called, child->number, child->command);
    if (!dh_follow_child(&c->subject, child, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    c->table = (struct dh_classified_table){0};
    c->variables = (struct dh_racy_variables){0};
    c->races = (struct dh_races){0};
    c->baseline = (struct dh_baseline){0};
    return classify_program(c);
}

static int classify_with(const struct dh_parsed *parsed)
{
    struct classifying c = {.parsed = parsed, .db = dh_option_get(parsed, "db")};
    int code = DH_EXIT_USAGE;
    if (!read_options(parsed, &c.options) || !dh_open_program("classify", parsed, &c.subject, &c.folder, &code))
        return code;
    c.quiet = dh_option_given(parsed, "quiet");
    c.whole = dh_option_given(parsed, "whole");
    c.as_json = strcmp(dh_option_get(parsed, "format"), "json") == 0;
    code = classify_program(&c);
    code = code == CLASSIFY_CHILD ? classify_child(&c) : code;
    dh_subject_release(&c.subject);
    free(c.folder);
    return code;
}

static int run_classify(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_program(self, argc, argv, classify_with);
}

static const struct dh_option options[] = {
    {"budget", DH_OPTION_STRING, "TIME", "10s", "how long to try each variable: 10s, 500ms, 5m"},
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings"},
    {"id", DH_OPTION_STRING, "ID", NULL, "only the race whose id begins so"},
    {"variable", DH_OPTION_STRING, "NAME", NULL,
     "this variable, whatever the store holds: 'counter', 'struct account.balance'"},
    {"model", DH_OPTION_CHOICE, "sc|tso|pso|c11|hb|hbmm", NULL, "only runs by this memory model"},
    {"oracle", DH_OPTION_STRING, "COMMAND", NULL,
     "command that judges what a run printed and no run of the baseline did; {out} in it is the file, exit status 0 "
     "accepts it"},
    {"free-running", DH_OPTION_FLAG, NULL, NULL,
     "real threads that nobody schedules, by model hb: for programs that cannot be explored, which run so by "
     "themselves; failing runs have no witness"},
    {"alone", DH_OPTION_FLAG, NULL, NULL, "one variable at a time, and no groups of those that do no harm alone"},
    {"systematic", DH_OPTION_FLAG, NULL, NULL,
     "all values in all schedules instead of chance, as far as the budget goes; says so if that was all there is"},
    {"runs", DH_OPTION_STRING, "N", "100",
     "runs of each heuristic; with --systematic, as many as there are unless this is given"},
    {"seed", DH_OPTION_STRING, "N", "1", "of what is chosen at random"},
    DH_CHILD_OPTION,
    {"input", DH_OPTION_STRING, "FILE", NULL, "standard input of the program; without it there is none"},
    {"-o", DH_OPTION_STRING, "FOLDER", NULL, "where witnesses go; without it the folder 'witnesses' beside the store"},
    {"format", DH_OPTION_CHOICE, "text|json", "text", "json: one object per variable and line"},
    {"whole", DH_OPTION_FLAG, NULL, NULL, "show long interleavings whole"},
    {"quiet", DH_OPTION_FLAG, NULL, NULL, "store verdicts and print nothing"},
    {0}};

const struct dh_command dh_command_classify = {
    .name = "classify",
    .usage = "[OPTION...] -- PROG [ARG...]",
    .summary = "find out whether races matter: run the program with stale but legal values",
    .description =
        "Takes the races of the program that the store holds (observed or proven), and runs the program again and\n"
        "again with an adversary for a memory: a read of the racy variable gets any value that the memory model\n"
        "allows, not only the newest. A race that makes the program fail is destructive: it crashes, aborts, hangs, "
        "or\n"
        "ends with an exit status or output that runs without the adversary (the baseline, collected first) never\n"
        "have. One that only makes it do more work is qos. Otherwise the verdict is no-failure: within this budget,\n"
        "with this input, nothing happened, and it says whether any read ever had a second value to see. One variable\n"
        "at a time first, then those that do no harm alone together: the smallest group that fails is told.\n\n"
        "A failing run is reduced to the fewest stale reads, replayed in a fresh process with real threads, kept as a\n"
        "witness that 'deadheat replay' runs, and its first wrong read is explained, under the strongest memory model\n"
        "that fails. Verdicts, of each pair of places, too, go to the store.\n\n"
        "Exit status 0: nothing is destructive; 1: something is; 2: bad usage, or nothing to classify; 3: the engine\n"
        "cannot run the program as it runs by itself, and nothing was found destructive.",
    .examples = "  deadheat check -- ./bank; deadheat classify -- ./bank\n"
                "  deadheat classify --variable='struct account.balance' --budget=1m -- ./bank\n"
                "  deadheat classify --oracle='diff {out} expected.txt' -- ./bank\n",
    .options = options,
    .run = run_classify,
};
