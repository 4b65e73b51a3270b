/* Stages of check that find: static analysis, and runs with every detector. */
#include "check/chain.h"
#include "driver/derive.h"
#include "driver/library_variants.h"
#include "host/file.h"
#include "launch/detector_list.h"
#include "launch/launch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- static analysis ---- */

void dh_check_scan(void *arg, struct dh_stage_state *t)
{
    const struct dh_check *c = arg;
    be_quiet(c);
    dh_stage_now(t, "looking for what may happen, without running it");
    c->host->scan(c);
}

/* ---- runs ---- */

static void launch(const struct dh_check_run *r, struct dh_focus *focus, const char *detect, struct dh_stage_state *t)
{
    struct dh_launch l = {.command = "check",
                          .plan = focus->plan,
                          .detect = detect,
                          .db = r->c->db,
                          .suppressions = r->c->suppressions,
                          .focus = focus,
                          .starts_others = !r->c->is_searchable,
                          .argv = r->c->argv};
    struct dh_import stored = {0};
    struct dh_err err = {0};
    if (!dh_launch(&l, &t->status, &stored, &err))
        dh_stage_fail(t, &err);
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

void dh_check_prepare_run(void *arg, struct dh_stage_state *t)
{
    const struct dh_check *c = arg;
    char *detect = dh_detector_list_all(","), *plan = dh_detector_list_plan(detect), *libraries = NULL;
    struct dh_focus focus = {0};
    struct dh_err err = {0};
    be_quiet(c); /* errors are reported when it is run */
    dh_stage_now(t, "making the variant that runs are watched with");
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

void dh_check_run(void *arg, struct dh_stage_state *t)
{
    const struct dh_check_run *r = arg;
    char *detect = dh_detector_list_all(","), *plan = dh_detector_list_plan(detect), *seed = dh_format("%u", r->seed);
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
