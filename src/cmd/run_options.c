#include "cmd/run_options.h"

#include "base/str.h"
#include "cmd/terminal.h"
#include "finding/suppress.h"
#include "heal/apply.h"
#include "launch/detector_list.h"
#include "launch/open_subject.h"
#include "prove/goals.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void dh_focus_read(struct dh_focus *f, const struct dh_parsed *p)
{
    *f = (struct dh_focus){
        .sites = dh_option_get(p, "sites"),
        .sections = dh_option_get(p, "sections"),
        .noise = dh_option_get(p, "noise"),
        .seed = dh_option_get(p, "seed"),
        .train = dh_option_get(p, "train"),
    };
}

char *dh_heal_plan(const struct dh_parsed *p, const char *command, const char *plan, const char *program)
{
    const char *policy = dh_option_get(p, "heal");
    struct dh_err err = {0};
    if (!policy)
        return dh_strdup(plan);
    char *all = dh_policy_apply(policy, dh_option_given(p, "partly"), plan, program, &err);
    if (!all) {
        dh_notice("%s: --heal: %s", command, err.text);
        dh_err_release(&err);
    }
    return all;
}

bool dh_detectors_option_check(const char *command, const char *list)
{
    const char *at;
    size_t n;
    if (dh_detector_list_check(list, &at, &n))
        return true;
    char *all = dh_detector_list_all(", ");
    dh_notice("%s: --detect=%s: no detector '%.*s'; there are: %s, none", command, list, (int)n, at, all);
    free(all);
    return false;
}

bool dh_suppressions_option_check(const char *command, const char *path)
{
    struct dh_suppressions s;
    struct dh_err err = {0};
    if (!path)
        return true;
    bool ok = dh_suppressions_read(&s, path, &err) && !err.text;
    if (!ok)
        dh_notice("%s: --suppressions: %s", command, err.text);
    dh_suppressions_release(&s);
    dh_err_release(&err);
    return ok;
}

static const char *value_of(void *parsed, const char *key)
{
    return dh_option_get(parsed, key);
}

struct dh_detector_options dh_options_of_detectors(const struct dh_parsed *p)
{
    return (struct dh_detector_options){value_of, (void *)p};
}

void dh_print_report(const char *text)
{
    size_t n = strlen(text);
    for (size_t done = 0; done < n;) {
        ssize_t k = write(STDERR_FILENO, text + done, n - done);
        if (k <= 0)
            break;
        done += (size_t)k;
    }
}

bool dh_open_program(const char *command, const struct dh_parsed *p, struct dh_subject *s, char **folder, int *code)
{
    const char *input = dh_option_get(p, "input");
    struct dh_err err = {0};
    char **argv;
    *code = DH_EXIT_USAGE;
    if (dh_operands(p, &argv) < 1) {
        dh_notice("%s: name a program: deadheat %s [OPTION...] -- PROG args", command, command);
        return false;
    }
    if (input && access(input, R_OK) != 0) {
        dh_notice("%s: --input=%s cannot be read", command, input);
        return false;
    }
    char *plan = dh_heal_plan(p, command, DH_ENGINE_PLAN, argv[0]);
    dh_terminal_show_activity();
    bool ok = plan && dh_open_subject(plan, command, argv, input, s, &err);
    const char *child = dh_option_get(p, "child");
    if (ok && child && !dh_follow_named_child(s, child, &err)) {
        dh_subject_release(s);
        ok = false;
    }
    if (plan && !ok)
        *code = dh_fail_as(&err);
    free(plan);
    if (!ok)
        return false;
    *folder = dh_option_given(p, "-o") ? dh_strdup(dh_option_get(p, "-o")) : dh_witness_folder(dh_option_get(p, "db"));
    return true;
}
