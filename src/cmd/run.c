/* deadheat run: derive the variant, run it, store what it found. */
#include "base/str.h"
#include "cmd/run_options.h"
#include "cmd/threads_print.h"
#include "driver/plan_name.h"
#include "heal/failures.h"
#include "heal/on_the_fly.h"
#include "host/supervise.h"
#include "launch/detector_list.h"
#include "launch/launch.h"

#include <stdlib.h>
#include <string.h>

static bool somebody_watches(const char *detectors)
{
    char *watching = dh_detector_list_watching(detectors);
    bool any = *watching;
    free(watching);
    return any;
}

static bool print_threads(const char *file, struct dh_err *err)
{
    return dh_threads_print(file, stderr, err);
}

/* When the program has ended, `status` says how. */
static int start(const struct dh_launch *l, int *status)
{
    struct dh_err err = {0};
    struct dh_import stored = {0};
    if (!l->db && !l->threads && !somebody_watches(l->detect)) {
        dh_launch_become(l, &err);
        return dh_fail_as(&err);
    }
    bool ok = dh_launch(l, status, &stored, &err);
    dh_import_release(&stored);
    return ok ? DH_EXIT_OK : dh_fail_as(&err);
}

static bool heals_by_itself(const struct dh_parsed *p)
{
    const char *heal = dh_option_get(p, "heal");
    return heal && strcmp(heal, "auto") == 0;
}

/* Hooks by the detectors unless they are named; how much is left out may be named alone. */
static char *plan_of(const struct dh_parsed *p, const char *detect, const char *bare)
{
    const char *given = dh_option_get(p, "plan");
    if (given && dh_plan_names_classes(given))
        return dh_strdup(given);
    char *usual = strcmp(detect, "none") == 0 ? dh_strdup(bare) : dh_detector_list_plan(detect);
    if (!given)
        return usual;
    char *both = dh_format("%s,%s", usual, given);
    free(usual);
    return both;
}

static void end_on_the_fly(struct dh_heal_auto *healed, const char *command)
{
    struct dh_err err = {0};
    unsigned added;
    const char *policy = healed->policy;
    if (!dh_heal_auto_end(healed, &added, &err))
        dh_fail(&err, 0);
    else if (added)
        dh_notice("%s: --heal=auto: %u group%s added to %s", command, added, added == 1 ? "" : "s", policy);
}

static int run_focused(const struct dh_parsed *p, struct dh_launch *l)
{
    struct dh_focus focus;
    /* Without a detector the program runs as it was linked, unless it is healed. */
    const char *bare = dh_option_given(p, "heal") ? "none" : "race";
    char *wanted = plan_of(p, l->detect, bare);
    dh_focus_read(&focus, p);
    struct dh_err err = {0};
    int code = DH_EXIT_USAGE;
    if (!dh_focus_prepare(&focus, l->command, l->detect, wanted, dh_option_get(p, "db"), &err))
        code = dh_fail(&err, DH_EXIT_USAGE);
    else {
        struct dh_heal_auto healed = {0};
        bool alone = heals_by_itself(p);
        char *plan = alone ? dh_heal_auto_begin(&healed, l->command, focus.plan, l->argv[0], &err)
                           : dh_heal_plan(p, l->command, focus.plan, l->argv[0]);
        if (err.text)
            dh_fail(&err, 0);
        l->plan = plan;
        l->focus = &focus;
        struct dh_heal_failures watch = {0};
        bool watched = plan && l->db && dh_option_given(p, "heal") && !alone;
        if (watched)
            dh_heal_failures_begin(&watch);
        int status = 0;
        if (plan)
            code = start(l, &status);
        free(plan);
        if (watched && !dh_heal_failures_store(&watch, dh_option_get(p, "heal"), l->db, l->argv[0], &err))
            dh_fail(&err, 0);
        if (alone)
            end_on_the_fly(&healed, l->command);
        if (plan && code == DH_EXIT_OK)
            dh_exit_like_child(status);
    }
    dh_focus_release(&focus);
    free(wanted);
    return code;
}

static int run_with(const struct dh_parsed *p)
{
    struct dh_launch l = {
        .command = "run",
        .detect = dh_option_get(p, "detect"),
        .suppressions = dh_option_get(p, "suppressions"),
        .threads = dh_option_given(p, "threads") ? print_threads : NULL,
        .report = dh_print_report,
        .of_detectors = dh_options_of_detectors(p),
    };
    if (heals_by_itself(p) && !dh_option_given(p, "detect"))
        l.detect = "atomrace";
    int n = dh_operands(p, &l.argv);
    if (n < 1) {
        dh_notice("run: name a program: deadheat run [OPTION...] -- PROG args");
        return DH_EXIT_USAGE;
    }
    if (!dh_detectors_option_check(l.command, l.detect) || !dh_suppressions_option_check(l.command, l.suppressions))
        return DH_EXIT_USAGE;
    bool nothing = strcmp(l.detect, "none") == 0;
    l.db = nothing && !dh_option_given(p, "db") ? NULL : dh_option_get(p, "db");
    return run_focused(p, &l);
}

static int run_run(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_options(self, argc, argv, run_with);
}

static const struct dh_option options[] = {
    {"detect", DH_OPTION_STRING, "DETECTOR,...", "race",
     "detectors to run with: race (happens-before, exact for the observed run), those that watch the events of the run "
     "(lockset, deadlock, ...: 'deadheat analyze' has them, too), or none"},
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings; made if missing"},
    {"suppressions", DH_OPTION_STRING, "FILE", NULL,
     "findings not to be told, stored or counted: lines race:PATTERN, race_top:, mutex:, deadlock:, view:, atomicity:, "
     "annotation:, ... as other race detectors read them"},
    DH_FOCUS_OPTIONS,
    DH_HEAL_OPTIONS,
    {"plan", DH_OPTION_STRING, "CLASS,...", NULL,
     "which hooks the variant carries, if not those that the detectors need: race, lockset, consistency (placed late, "
     "after "
     "optimisation), view, atomrace, "
     "engine, heal (placed exactly, before it), stale (loads answer through the runtime), scope (activations of "
     "functions), none; and how much of what the analysis of the program proves safe is left out: all (nothing; the "
     "usual), "
     "conflict-self, conflict, optimized, each also with no-arrays or no-copies; "
     "count-events, count-checks: the program counts what it does, or the checks it executes, for the option "
     "counts_file"},
    {"threads", DH_OPTION_FLAG, NULL, NULL,
     "when the program has ended, list its threads on standard error: name, creator, state, and where it was created"},
#define DH_DETECTOR_OPTION(name, value, help) {name, DH_OPTION_STRING, value, NULL, help},
#include "cmd/detector_options.def"
#undef DH_DETECTOR_OPTION
    {0}};

const struct dh_command dh_command_run = {
    .name = "run",
    .usage = "[OPTION...] -- PROG [ARG...]",
    .summary = "run a program with chosen detectors",
    .description =
        "Derives the variant of the program that the options ask for from the module it carries, keeps it in the\n"
        "cache, and runs it. Output, exit code and signals are the program's own, but for exit code 66 when something\n"
        "was found (DEADHEAT_OPTIONS=exitcode=N sets another, 0 leaves the program's). PROG may be a script or a\n"
        "libtool wrapper: programs built with 'deadheat cc' that it starts run as that variant too.\n\n"
        "Findings are told on standard error as they happen and kept in the store, from which 'deadheat report' shows\n"
        "them again. Those of a run that was killed are stored by the next command that opens the store.",
    .examples = "  deadheat run -- ./server -p 8080\n  deadheat run --db=/tmp/nightly.db -- make check\n"
                "  deadheat run --detect=none --plan=engine -- ./bank\n",
    .options = options,
    .run = run_run,
};
