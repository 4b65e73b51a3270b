/* deadheat scan: what may go wrong, found without running the program. */
#include "analysis/section_candidates.h"
#include "base/str.h"
#include "check/scan_program.h"
#include "cmd/command.h"
#include "cmd/scan_print.h"
#include "driver/whole_program.h"
#include "finding/store.h"
#include "host/deadline.h"
#include "host/file.h"
#include "host/process.h"
#include "model/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* One call; what the child finds out comes back in `shared`. */
struct scan {
    const struct dh_parsed *options;
    const char *path;
    pid_t parent;
    uint64_t until_ns; /* 0: when it is done */
    struct dh_suppressions suppressions;
    struct shared {
        bool found;
    } *shared;
};

static void dump_model(const struct dh_program *p)
{
    struct dh_str out = {0};
    dh_program_print(p, &out);
    fwrite(out.at, 1, out.n, stdout);
    dh_str_release(&out);
}

static bool option_is(const struct scan *s, const char *option, const char *value)
{
    return strcmp(dh_option_get(s->options, option), value) == 0;
}

static enum dh_call_cache read_cache(const struct scan *s)
{
    static const char *const names[] = {"normal", "best", "worst", "none", "unclipped"};
    unsigned n = sizeof names / sizeof *names;
    while (--n && !option_is(s, "cache", names[n]))
        ;
    return (enum dh_call_cache)n;
}

static bool write_sections(const struct scan *s, const struct dh_scan *scan, unsigned *n, struct dh_err *err)
{
    struct dh_str out = {0};
    dh_str_addf(&out, "# Sections of %s that are meant to happen at once, as far as can be told without running it.\n",
                dh_basename(s->path));
    *n = dh_section_candidates_print(&out, &scan->symex, &scan->inconsistencies);
    bool ok = dh_file_write(dh_option_get(s->options, "sections"), out.at, out.n, 0644, err);
    dh_str_release(&out);
    return ok;
}

static bool print_results(struct scan *s, struct dh_scan_results *r)
{
    bool statistics = dh_option_given(s->options, "statistics");
    const char *explain = dh_option_get(s->options, "explain");
    if (explain)
        return dh_scan_print_why(r, explain);
    (option_is(s, "format", "json") ? dh_scan_print_json : dh_scan_print_text)(r, statistics);
    return r->findings.n;
}

/* What was found is written, stored, printed. */
static bool use_results(void *arg, struct dh_scan_results *r, struct dh_err *err)
{
    struct scan *s = arg;
    const char *sections = dh_option_get(s->options, "sections"), *db = dh_option_get(s->options, "db");
    unsigned n = 0;
    if (sections && !write_sections(s, r->scan, &n, err))
        return false;
    if (!dh_option_get(s->options, "explain") && !option_is(s, "db", "none") && !dh_scan_results_store(r, db, err))
        return false;
    s->shared->found = print_results(s, r);
    dh_scan_notice_left(r->scan);
    if (sections && !option_is(s, "format", "json"))
        printf("%u section%s in %s\n", n, n == 1 ? "" : "s", sections);
    return true;
}

static bool dump(const struct scan *s, struct dh_err *err)
{
    struct dh_library_models models;
    struct dh_whole_program w = {0};
    bool ok = dh_scan_read_models(&models, dh_option_get(s->options, "models"), err) &&
              dh_whole_program_read(&w, s->path, &models, dh_option_given(s->options, "library"), err);
    if (ok)
        dump_model(&w.program);
    dh_whole_program_release(&w);
    dh_library_models_release(&models);
    return ok;
}

static bool scan_in_child(void *arg, struct dh_err *err)
{
    struct scan *s = arg;
    struct dh_scan_request q = {
        .path = s->path,
        .models = dh_option_get(s->options, "models"),
        .suppressions = &s->suppressions,
        .options = {.cache = read_cache(s),
                    .sequential = option_is(s, "order", "sc"),
                    .wide = option_is(s, "exposed-reads", "no"),
                    .neighbours = dh_option_get(s->options, "sections"),
                    .until_ns = s->until_ns},
        .library = dh_option_given(s->options, "library"),
        .all = dh_option_given(s->options, "all") || dh_option_get(s->options, "explain"),
    };
    /* Killing the command ends the analysis, too. */
    if (getpid() != s->parent)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool ok = dh_option_get(s->options, "dump") ? dump(s, err) : dh_scan_program(&q, use_results, s, err);
    fflush(stdout);
    return ok;
}

/* All lines must be well-formed. */
static bool read_suppressions(struct dh_suppressions *s, const char *path)
{
    struct dh_err err = {0};
    bool ok = !path || (dh_suppressions_read(s, path, &err) && !err.text);
    if (!ok)
        dh_notice("scan: --suppressions: %s", err.text);
    dh_err_release(&err);
    return ok;
}

static int run_in_child(struct scan *s)
{
    struct dh_err err = {0};
    s->shared = mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->shared == MAP_FAILED) {
        dh_notice("scan: no memory");
        return DH_EXIT_FAILURE;
    }
    fflush(stdout);
    bool ok = dh_child_run("the analysis", scan_in_child, s, &err);
    bool found = s->shared->found;
    munmap(s->shared, sizeof *s->shared);
    if (!ok)
        return dh_fail(&err, DH_EXIT_USAGE);
    return found ? DH_EXIT_FINDINGS : DH_EXIT_OK;
}

static bool read_budget(struct scan *s)
{
    const char *text = dh_option_get(s->options, "budget");
    uint64_t ns;
    if (!text)
        return true;
    if (dh_read_time(text, &ns)) {
        s->until_ns = dh_now_ns() + ns;
        return true;
    }
    dh_notice("scan: --budget=%s: expected a time such as 5s or 500ms", text);
    return false;
}

static int scan(const struct dh_parsed *p, const char *path)
{
    struct scan s = {.options = p, .path = path, .parent = getpid()};
    bool ok = read_budget(&s) && read_suppressions(&s.suppressions, dh_option_get(p, "suppressions"));
    int code = ok ? run_in_child(&s) : DH_EXIT_USAGE;
    dh_suppressions_release(&s.suppressions);
    return code;
}

static int run_scan(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_file(self, argc, argv, scan);
}

static const struct dh_option options[] = {
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store for what is suspected; 'none': nowhere"},
    {"format", DH_OPTION_CHOICE, "text|json", "text", "reports for people, or a JSON document"},
    {"explain", DH_OPTION_STRING, "ID|FILE:LINE", NULL,
     "instead: why the suspicion whose id begins so could not be ruled out, or what was decided of accesses there"},
    {"sections", DH_OPTION_STRING, "FILE", NULL,
     "also write a section file for 'run --detect=atomrace --sections' and for policies: what is meant to happen at "
     "once"},
    {"suppressions", DH_OPTION_STRING, "FILE", NULL,
     "what not to tell, one pattern a line, as ThreadSanitizer reads it"},
    {"all", DH_OPTION_FLAG, NULL, NULL, "every pair of places, not only the first four of each variable"},
    {"order", DH_OPTION_CHOICE, "sc|weak", "weak",
     "'weak': what was written to an object before others learn of it through a race may come later for them; 'sc': it "
     "is there"},
    {"exposed-reads", DH_OPTION_CHOICE, "yes|no", "yes",
     "atomicity: only reads on whose value a later step relies; 'no': also others, as thesis and views have it"},
    {"statistics", DH_OPTION_FLAG, NULL, NULL, "also: sizes, times, and which arguments put how many pairs aside"},
    {"cache", DH_OPTION_CHOICE, "normal|best|worst|none|unclipped", "normal",
     "for measuring: which calls count as looked at before; what is suspected with another than 'normal' means "
     "nothing"},
    {"library", DH_OPTION_FLAG, NULL, NULL, "every exported function may be called by any number of threads"},
    {"budget", DH_OPTION_STRING, "TIME", NULL,
     "ends then with what it has found, and says what it has not looked at; without it, it ends when it is done"},
    {"models", DH_OPTION_STRING, "FILE", NULL, "what more functions do: allocators, locks, callbacks of your own"},
    {"dump", DH_OPTION_CHOICE, "model", NULL, "print the abstract program instead"},
    {0}};

const struct dh_command dh_command_scan = {
    .name = "scan",
    .usage = "[OPTION...] PROG|BITCODE",
    .summary = "suspect races, atomicity violations and deadlocks without running the program",
    .description =
        "Reads the whole program that an executable or library built with 'deadheat cc' carries, or a bitcode\n"
        "file, and looks for what may go wrong on any path and in any order of threads: accesses that nothing\n"
        "orders, steps of a function that others can come between, circles of locks, waits that hold what the\n"
        "signaller needs, waits that nobody ends. Every suspicion goes into the store and may be proven or\n"
        "observed later. What could not be modelled exactly is counted at the end. The program is not run.\n"
        "Exit code 1: something is suspected.",
    .examples = "  deadheat scan bank\n  deadheat scan --explain=3f2a bank\n  deadheat scan --library libpool.so\n",
    .options = options,
    .run = run_scan,
};
