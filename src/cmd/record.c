/* deadheat record: run a program and write its event stream to a file. */
#include "base/str.h"
#include "cmd/run_options.h"
#include "host/supervise.h"
#include "launch/detector_list.h"
#include "launch/launch.h"
#include "trace/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "100", "64k", "2G": answers false for anything else. */
static bool read_size(const char *text, uint64_t most, uint64_t *out)
{
    static const char units[] = "kMGT";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (text[0] < '0' || text[0] > '9' || errno || (*end && (!unit || end[1])) || !n || n > most >> shift)
        return false;
    *out = n << shift;
    return true;
}

static bool read_bounds(const struct dh_parsed *p, struct dh_dht_options *bounds)
{
    const char *size = dh_option_get(p, "max-size"), *limit = dh_option_get(p, "per-site-limit");
    uint64_t n = 0;
    if (size && !read_size(size, UINT64_MAX / 2, &bounds->max_size)) {
        dh_notice("record: --max-size=%s: expected a number of bytes, as 500M or 2G", size);
        return false;
    }
    if (limit && !read_size(limit, UINT32_MAX, &n)) {
        dh_notice("record: --per-site-limit=%s: expected a number of accesses, from 1", limit);
        return false;
    }
    bounds->per_site_limit = (uint32_t)n;
    return true;
}

static bool check_rules(const char *path)
{
    struct dh_err err = {0};
    struct dh_rules *rules = path ? dh_rules_read(path, &err) : NULL;
    dh_rules_free(rules);
    if (err.text)
        dh_fail(&err, 0);
    return !path || rules;
}

/* Hooks that the detectors need, and those that record accesses. */
static char *plan_with(const char *needed)
{
    static const char recording[] = "lockset";
    if (strcmp(needed, "none") == 0)
        return dh_strdup(recording);
    return strstr(needed, recording) ? dh_strdup(needed) : dh_format("%s,%s", needed, recording);
}

static int record(struct dh_launch *l)
{
    int status = 0;
    struct dh_import stored = {0};
    struct dh_err err = {0};
    bool ok = dh_launch(l, &status, &stored, &err);
    dh_import_release(&stored);
    if (ok)
        dh_exit_like_child(status);
    return dh_fail_as(&err);
}

static int record_with(const struct dh_parsed *p)
{
    struct dh_launch l = {.command = "record",
                          .detect = dh_option_get(p, "detect"),
                          .suppressions = dh_option_get(p, "suppressions"),
                          .trace = dh_option_get(p, "-o"),
                          .rules = dh_option_get(p, "rules"),
                          .report = dh_print_report,
                          .of_detectors = dh_options_of_detectors(p)};
    if (dh_operands(p, &l.argv) < 1 || !l.trace) {
        dh_notice("record: name a file and a program: deadheat record -o run.dht [OPTION...] -- PROG args");
        return DH_EXIT_USAGE;
    }
    if (!dh_detectors_option_check(l.command, l.detect) || !dh_suppressions_option_check(l.command, l.suppressions) ||
        !read_bounds(p, &l.bounds) || !check_rules(l.rules))
        return DH_EXIT_USAGE;
    bool nothing = strcmp(l.detect, "none") == 0;
    l.db = nothing && !dh_option_given(p, "db") ? NULL : dh_option_get(p, "db");
    char *needed = dh_detector_list_plan(l.detect), *plan = plan_with(needed);
    struct dh_focus focus;
    dh_focus_read(&focus, p);
    struct dh_err err = {0};
    int code;
    if (!dh_focus_prepare(&focus, l.command, l.detect, dh_option_given(p, "plan") ? dh_option_get(p, "plan") : plan,
                          dh_option_get(p, "db"), &err))
        code = dh_fail(&err, DH_EXIT_USAGE);
    else {
        l.plan = focus.plan;
        l.focus = &focus;
        code = record(&l);
    }
    dh_focus_release(&focus);
    free(plan);
    free(needed);
    return code;
}

static int run_record(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_options(self, argc, argv, record_with);
}

static const struct dh_option options[] = {
    {"-o", DH_OPTION_STRING, "FILE", NULL,
     "the trace to write, as text if it ends with .trace; processes that the program starts get one each, with their "
     "number before the suffix"},
    {"detect", DH_OPTION_STRING, "DETECTOR,...", "none",
     "detectors to run meanwhile, as 'deadheat run' does: they and the trace see the same run"},
    {"max-size", DH_OPTION_STRING, "BYTES", NULL,
     "keep the trace below this, as 500M or 2G: as it fills, places that were recorded often are left out"},
    {"per-site-limit", DH_OPTION_STRING, "K", NULL, "keep so many accesses of one place and thread"},
    {"rules", DH_OPTION_STRING, "FILE", NULL,
     "accesses to leave out: lines 'skip|record file|function|type|field PATTERN', the last that matches decides"},
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings, with --detect; made if missing"},
    {"suppressions", DH_OPTION_STRING, "FILE", NULL, "findings not to be told, stored or counted"},
    DH_FOCUS_OPTIONS,
    {"plan", DH_OPTION_STRING, "CLASS,...", NULL, "which hooks the variant carries, if not those that are needed"},
#define DH_DETECTOR_OPTION(name, value, help) {name, DH_OPTION_STRING, value, NULL, help},
#include "cmd/detector_options.def"
#undef DH_DETECTOR_OPTION
    {0}};

const struct dh_command dh_command_record = {
    .name = "record",
    .usage = "-o FILE [OPTION...] -- PROG [ARG...]",
    .summary = "run a program and keep what happened in it",
    .description =
        "Runs the program and writes what its threads do to a trace: synchronisation, allocation, accesses to memory\n"
        "that others may see. 'deadheat analyze' runs detectors on it, as often as you like. Output, exit code and\n"
        "signals are the program's own.\n\n"
        "A trace of a program that was killed holds what it did until then. A program that is faster than its\n"
        "recording waits for it; one whose recorder was killed goes on without.",
    .examples = "  deadheat record -o run.dht -- ./server -p 8080\n  deadheat analyze --detect=lockset,views run.dht\n"
                "  deadheat record -o run.dht --max-size=2G --detect=race -- make check\n",
    .options = options,
    .run = run_record,
};
