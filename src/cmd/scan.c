/* deadheat scan: what may go wrong, found without running the program. */
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/launch.h"
#include "cmd/scan_report.h"
#include "driver/whole_program.h"
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
    struct shared {
        bool found;
    } *shared;
};

static bool read_models(struct dh_models *m, const char *path, struct dh_err *err)
{
    struct dh_bytes b;
    dh_models_init(m);
    if (!path)
        return true;
    if (!dh_file_read(path, &b, err))
        return false;
    char *text = dh_format("%.*s", (int)b.n, (const char *)b.at);
    bool ok = dh_models_read(m, path, text, err);
    free(text);
    dh_bytes_release(&b);
    return ok;
}

static void dump_model(const struct dh_program *p)
{
    struct dh_str out = {0};
    dh_program_print(p, &out);
    fwrite(out.at, 1, out.n, stdout);
    dh_str_release(&out);
}

static bool scan_whole(struct scan *s, struct dh_whole_program *w, struct dh_err *err)
{
    const char *db = dh_option_get(s->options, "db");
    struct dh_scan_wishes wishes = {.program = s->path,
                                    .db = strcmp(db, "none") ? db : NULL,
                                    .suppressions = dh_option_get(s->options, "suppressions"),
                                    .sections = dh_option_get(s->options, "sections"),
                                    .explain = dh_option_get(s->options, "explain"),
                                    .json = strcmp(dh_option_get(s->options, "format"), "json") == 0,
                                    .sequential = strcmp(dh_option_get(s->options, "order"), "sc") == 0,
                                    .wide = strcmp(dh_option_get(s->options, "exposed-reads"), "no") == 0,
                                    .all = dh_option_given(s->options, "all") || dh_option_get(s->options, "explain"),
                                    .cache = dh_option_get(s->options, "cache"),
                                    .statistics = dh_option_given(s->options, "statistics")};
    if (dh_option_get(s->options, "dump")) {
        dump_model(&w->program);
        return true;
    }
    return dh_scan_report(w, &wishes, &s->shared->found, err);
}

static bool scan_in_child(void *arg, struct dh_err *err)
{
    struct scan *s = arg;
    struct dh_models models;
    /* Who ends the command ends the analysis with it. */
    if (getpid() != s->parent)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct dh_whole_program w = {0};
    bool ok = read_models(&models, dh_option_get(s->options, "models"), err) &&
              dh_whole_program_read(&w, s->path, &models, dh_option_given(s->options, "library"), err) &&
              scan_whole(s, &w, err);
    fflush(stdout);
    dh_whole_program_release(&w);
    dh_models_release(&models);
    return ok;
}

static int scan(const struct dh_parsed *p, const char *path)
{
    struct dh_err err = {0};
    struct scan s = {.options = p, .path = path, .parent = getpid()};
    if (!dh_launch_check_suppressions("scan", dh_option_get(p, "suppressions")))
        return DH_EXIT_USAGE;
    s.shared = mmap(NULL, sizeof *s.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.shared == MAP_FAILED) {
        dh_complain("scan: no memory");
        return DH_EXIT_FAILURE;
    }
    fflush(stdout);
    bool ok = dh_child_run("the analysis", scan_in_child, &s, &err);
    bool found = s.shared->found;
    munmap(s.shared, sizeof *s.shared);
    if (!ok)
        return dh_fail(&err, DH_EXIT_USAGE);
    return found ? DH_EXIT_FINDINGS : DH_EXIT_OK;
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
