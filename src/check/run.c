/* Stages of check that find: static analysis, and runs with every detector. */
#include "check/chain.h"
#include "check/scan_program.h"
#include "driver/derive.h"
#include "driver/library_variants.h"
#include "host/activity.h"
#include "host/deadline.h"
#include "host/file.h"
#include "host/notice.h"
#include "host/process.h"
#include "launch/detector_list.h"
#include "launch/launch.h"
#include "launch/open_subject.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- streams of a stage without output ---- */

static void redirect(const char *path, int flags, int to)
{
    int from = open(path, flags | O_CLOEXEC);
    if (from >= 0)
        dup2(from, to);
}

static void be_quiet(const struct dh_check *c)
{
    redirect(c->input.path ? c->input.path : "/dev/null", O_RDONLY, STDIN_FILENO);
    redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
    redirect("/dev/null", O_WRONLY, STDERR_FILENO);
}

static struct dh_stage_state *shown_in;

/* ---- static analysis ---- */

static void show_pass(const char *line)
{
    dh_stage_now(shown_in, "looking for what may happen, without running it: %s", line ? line : "");
}

/* What it says beside its findings is what it had no time for, or why it failed. */
static void keep_words(const char *line)
{
    dh_stage_say(shown_in, "%s", dh_starts_with(line, "scan: ") ? line + strlen("scan: ") : line);
}

static bool store_suspicions(void *arg, struct dh_scan_results *r, struct dh_err *err)
{
    const struct dh_check *c = arg;
    bool ok = dh_scan_results_store(r, c->db, err);
    if (ok)
        dh_scan_notice_left(r->scan);
    return ok;
}

static bool scan_in_child(void *arg, struct dh_err *err)
{
    const struct dh_check *c = arg;
    struct dh_suppressions suppressions = {0};
    struct dh_scan_request q = {
        .path = c->program, .suppressions = &suppressions, .options.until_ns = dh_now_ns() + c->scan_ns};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* killing the stage ends the analysis, too */
    bool ok = (!c->suppressions || dh_suppressions_read(&suppressions, c->suppressions, err)) &&
              dh_scan_program(&q, store_suspicions, arg, err);
    dh_suppressions_release(&suppressions);
    return ok;
}

void dh_check_scan(void *arg, struct dh_stage_state *t)
{
    struct dh_err err = {0};
    be_quiet(arg);
    shown_in = t;
    dh_activity_show_by(show_pass);
    dh_notices_print_by(keep_words);
    dh_activity_say("beginning");
    if (!dh_child_run("the analysis", scan_in_child, arg, &err))
        dh_notice_err(&err);
}

/* ---- runs ---- */

/* A search for what is no process at all would only show that again. */
static void fail_unstarted(const struct dh_check_run *r, struct dh_stage_state *t)
{
    struct dh_err err = {0};
    char *status = dh_status_text(t->status);
    dh_err_usage(&err, "check: %s did not start: it ended with %s before its first instruction%s", r->c->argv[0],
                 status, r->is_first && !r->c->is_part ? ", see above" : "");
    dh_stage_fail(t, &err);
    free(status);
}

static void launch(const struct dh_check_run *r, struct dh_focus *focus, const char *detect, struct dh_stage_state *t)
{
    bool started = true, made_threads = false;
    struct dh_launch l = {.command = "check",
                          .plan = focus->plan,
                          .detect = detect,
                          .db = r->c->db,
                          .suppressions = r->c->suppressions,
                          .focus = focus,
                          .starts_others = !r->c->is_searchable,
                          .private_files = r->c->is_searchable && !r->c->for_real,
                          .waits_for_threads_ms = "1000",
                          .started = r->c->is_searchable ? &started : NULL,
                          .made_threads = &made_threads,
                          .argv = r->c->argv};
    struct dh_import stored = {0};
    struct dh_err err = {0};
    if (!dh_launch(&l, &t->status, &stored, &err))
        dh_stage_fail(t, &err);
    else if (!started)
        fail_unstarted(r, t);
    t->made_threads |= made_threads;
    dh_import_release(&stored);
}

static void set_streams(const struct dh_check_run *r)
{
    if (!r->is_first || r->c->is_part) {
        be_quiet(r->c);
        return;
    }
    if (r->c->input.descriptor >= 0)
        dup2(r->c->input.descriptor, STDIN_FILENO);
    if (r->c->keeps_stdout)
        dup2(STDERR_FILENO, STDOUT_FILENO);
}

/* Race detection needs no other variant than the one that is built; deadlocks show without hooks. Owned by the
 * caller. */
static char *detectors_of(const struct dh_check *c)
{
    return c->in_haste ? dh_strdup("race,deadlock") : dh_detector_list_all(",");
}

static void derive_for_runs(const struct dh_check *c)
{
    char *detect = detectors_of(c), *plan = dh_detector_list_plan(detect), *libraries = NULL;
    struct dh_focus focus = {0};
    struct dh_err err = {0};
    if (dh_focus_prepare(&focus, "check", detect, plan, c->db, &err)) {
        char *variant = dh_variant_derive(c->program, focus.plan, &err);
        if (variant)
            dh_variant_derive_libraries(c->program, focus.plan, &libraries, &err);
        free(variant);
        free(libraries);
    }
    dh_err_release(&err);
    dh_focus_release(&focus);
    free(detect);
    free(plan);
}

uint64_t dh_check_run_estimate_ns(const struct dh_check *c)
{
    char *detect = detectors_of(c), *plan = dh_detector_list_plan(detect);
    struct dh_focus focus = {0};
    struct dh_err err = {0};
    uint64_t ns = 0;
    if (dh_focus_prepare(&focus, "check", detect, plan, c->db, &err))
        ns = dh_variant_estimate_ns(c->program, focus.plan);
    dh_err_release(&err);
    dh_focus_release(&focus);
    free(detect);
    free(plan);
    return ns;
}

bool dh_check_has_search_variant(const struct dh_check *c)
{
    return !dh_variant_estimate_ns(c->program, DH_ENGINE_PLAN);
}

void dh_check_prepare_run(void *arg, struct dh_stage_state *t)
{
    const struct dh_check *c = arg;
    be_quiet(c); /* errors are reported when it is run */
    dh_stage_now(t, "making the variant that runs are watched with");
    derive_for_runs(c);
}

/* ---- beside the stages ---- */

static void show_beside(const char *line)
{
    dh_stage_beside(shown_in, line);
}

static void derive_for_searches(const struct dh_check *c)
{
    struct dh_err err = {0};
    char *libraries = NULL;
    char *variant = dh_variant_derive(c->program, DH_ENGINE_PLAN, &err);
    if (variant)
        dh_variant_derive_libraries(c->program, DH_ENGINE_PLAN, &libraries, &err);
    free(variant);
    free(libraries);
    dh_err_release(&err); /* said by the stage that needs it */
}

static bool derive_runs_in_child(void *arg, struct dh_err *err)
{
    (void)err; /* said by the stage that needs it */
    derive_for_runs(arg);
    return true;
}

void dh_check_derive_all(void *arg, struct dh_stage_state *t)
{
    enum { BEHIND_STAGES = 10 };
    struct dh_check c = *(const struct dh_check *)arg;
    struct dh_child runs;
    struct dh_err err = {0};
    bool soon = !c.in_haste;
    be_quiet(&c);
    shown_in = t;
    dh_activity_show_by(show_beside);
    c.in_haste = false;
    soon = soon && dh_child_start(&runs, "deriving", derive_runs_in_child, &c, &err);
    derive_for_searches(&c);
    if (soon)
        dh_child_finish(&runs, &err);
    else {
        /* Later runs may have every detector; searches need the processors more. */
        (void)!nice(BEHIND_STAGES);
        dh_activity_show_by(NULL);
        derive_for_runs(&c);
    }
    dh_err_release(&err);
}

void dh_check_run(void *arg, struct dh_stage_state *t)
{
    const struct dh_check_run *r = arg;
    char *detect = detectors_of(r->c), *plan = dh_detector_list_plan(detect), *seed = dh_format("%u", r->seed);
    struct dh_focus focus = {.noise = r->noise, .seed = r->noise ? seed : NULL};
    struct dh_err err = {0};
    set_streams(r);
    dh_stage_now(t, "run %u of the program%s%s", r->c->runs + 1, r->noise ? ", with noise " : "",
                 r->noise ? r->noise : "");
    if (dh_focus_prepare(&focus, "check", detect, plan, r->c->db, &err))
        launch(r, &focus, detect, t);
    else {
        err.is_usage = false; /* none of it is the user's */
        dh_stage_fail(t, &err);
    }
    dh_focus_release(&focus);
    free(detect);
    free(plan);
    free(seed);
}
