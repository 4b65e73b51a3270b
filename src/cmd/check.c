/* deadheat check: build if needed, the whole chain (check/chain.h), the table of its findings (check_table.c). */
#include "base/str.h"
#include "check/chain.h"
#include "cmd/check_script.h"
#include "cmd/check_table.h"
#include "cmd/command.h"
#include "cmd/run_options.h"
#include "cmd/subjects.h"
#include "cmd/terminal.h"
#include "host/file.h"
#include "host/process.h"
#include "host/resources.h"
#include "image/container.h"
#include "prove/engine_process.h"
#include "report/formats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DH_EXIT_INTERRUPTED = 130 };

/* Suffixes of compiler inputs, and the compiler command they need. */
static const struct {
    const char *suffix, *compiler;
} languages[] = {
    {".c", "cc"},  {".i", "cc"},   {".cc", "c++"}, {".cpp", "c++"}, {".cxx", "c++"},
    {".C", "c++"}, {".ii", "c++"}, {".o", "cc"},   {".a", "cc"},
};

static const char *compiler_of(const char *name)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (dh_ends_with(name, languages[i].suffix))
            return languages[i].compiler;
    return NULL;
}

struct task {
    const struct dh_parsed *parsed;
    struct dh_check check;
    const char *input; /* file, or NULL */
    char **sources;    /* none: argv is a program */
    int n_sources;
    bool suspected; /* they are rows of the table, too */
    const struct dh_report_format *format;
    struct dh_argv argv;
};

/* Below the folder of the store, where witnesses are, too. */
static char *beside_store(const struct task *t, const char *folder, const char *name, const char *suffix)
{
    const char *db = t->check.db;
    return dh_format("%.*s%s%s%s%s", (int)(dh_basename(db) - db), db, folder, *folder && *name ? "/" : "", name,
                     suffix);
}

/* ---- building ---- */

static const char *compiler_of_all(const struct task *t)
{
    for (int i = 0; i < t->n_sources; i++)
        if (strcmp(compiler_of(t->sources[i]), "c++") == 0)
            return "c++";
    return "cc";
}

static void compile_line(const struct task *t, const char *self, const char *program, struct dh_argv *line)
{
    dh_argv_add(line, self);
    dh_argv_add(line, compiler_of_all(t));
    dh_argv_add(line, "-g");
    dh_argv_add(line, "-O1");
    dh_argv_add(line, "-pthread");
    dh_argv_add_all(line, t->sources, t->n_sources);
    dh_argv_add(line, "-o");
    dh_argv_add(line, program);
    dh_argv_add(line, "-lm");
}

/* It stays, so that what the table says next can be typed. */
static bool build(struct task *t, int *code)
{
    struct dh_err err = {0};
    struct dh_argv line = {0};
    int status = 0;
    const char *first = dh_basename(t->sources[0]);
    char *name = dh_format("%.*s", (int)strcspn(first, "."), first), *self = dh_resource_self(&err);
    char *folder = beside_store(t, "programs", "", ""), *program = dh_format("%s/%s", folder, name);
    bool ok = self && dh_mkdir_parents(folder, 0777, &err);
    if (ok) {
        compile_line(t, self, program, &line);
        ok = dh_process_run(&line, NULL, &status, &err);
    }
    *code = ok ? DH_EXIT_USAGE : dh_fail(&err, DH_EXIT_FAILURE);
    if (ok && status != 0) {
        dh_notice("check: not built: see above");
        ok = false;
    }
    if (ok)
        t->argv.at[0] = (free(t->argv.at[0]), dh_strdup(program));
    dh_argv_release(&line);
    free(program);
    free(folder);
    free(name);
    free(self);
    return ok;
}

/* ---- reporting ---- */

static bool is_seen(const struct dh_found *found)
{
    for (size_t i = 0; i < found->at.n; i++)
        if (found->at.at[i]->level >= DH_LEVEL_OBSERVED)
            return true;
    return false;
}

/* Exit code 66 is that of the runtime when something was found. */
static void print_status(const struct dh_check *c, bool seen)
{
    if (c->status == 0 || c->status_is_ours || (seen && dh_status_code(c->status) == 66))
        return;
    char *words = dh_status_text(c->status);
    dh_notice("check: the program ended with %s", words);
    free(words);
}

/* The copy of piped input is kept for witnesses that name it. */
static void forget_input(struct dh_check *c, const struct dh_found *found)
{
    for (size_t i = 0; i < found->at.n; i++)
        if (found->at.at[i]->level == DH_LEVEL_PROVEN)
            return;
    if (c->input.is_kept && c->input.path)
        unlink(c->input.path);
}

static void print_document(const struct dh_report_format *format, const struct dh_check *c,
                           const struct dh_found *found)
{
    struct dh_str out = {0};
    char *baseline = dh_hosting_json(&c->state->hosting);
    format->begin(&out);
    for (size_t i = 0; i < found->at.n; i++)
        format->finding(&out, i, found->at.at[i]);
    format->end(&out);
    if (format->member)
        format->member(&out, "baseline", baseline);
    free(baseline);
    fputs(out.at, stdout);
    dh_str_release(&out);
}

/* What the engine cannot run was not searched, whatever the run showed; after a doubtful baseline an empty search shows
 * nothing. */
static bool is_unsearched(const struct dh_check *c, bool seen)
{
    const struct dh_stage_state *t = c->state;
    bool doubtful =
        t->hosting.verdict == DH_HOSTING_DOUBTFUL || (t->hosting.verdict == DH_HOSTING_UNKNOWN && t->cannot[0]);
    bool late = t->hosting.verdict == DH_HOSTING_RIGHT && !t->schedules;
    return t->hosting.verdict == DH_HOSTING_WRONG || ((doubtful || late) && !seen);
}

static int report(struct task *t)
{
    struct dh_err err = {0};
    struct dh_found found;
    struct dh_check *c = &t->check;
    if (!dh_check_found(c, &found, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    bool seen = is_seen(&found), died = WIFSIGNALED(c->status) && !c->status_is_ours;
    fflush(stdout);
    print_status(c, found.at.n);
    if (c->is_part)
        dh_check_line_print(c, &found);
    else if (t->format->is_prose)
        dh_check_table_print(c, &found, t->suspected);
    else
        print_document(t->format, c, &found);
    forget_input(c, &found);
    dh_found_release(&found);
    return died                     ? DH_EXIT_FINDINGS
           : is_unsearched(c, seen) ? DH_EXIT_FAILURE
           : seen || died           ? DH_EXIT_FINDINGS
           : c->interrupted         ? DH_EXIT_INTERRUPTED
                                    : DH_EXIT_OK;
}

/* ---- stages ---- */

static void print_progress(const char *stage, uint64_t left_ns, const char *now)
{
    char line[DH_STAGE_WORDS + 64] = "";
    if (now)
        snprintf(line, sizeof line, "check: %-8s %3.0f s left  %s", stage, (double)left_ns / 1e9, now);
    fprintf(stderr, "\r\033[K%.*s", (int)dh_terminal_width(STDERR_FILENO, 80) - 1, line);
    fflush(stderr);
}

static void print_stage(const char *stage, uint64_t took_ns, const char *said)
{
    fprintf(stderr, "check: %-8s %5.1f s  %s\n", stage, (double)took_ns / 1e9, said);
    fflush(stderr);
}

static void print_still(const char *stage, uint64_t so_far_ns, const char *now)
{
    fprintf(stderr, "check: %-8s %5.1f s  so far: %s\n", stage, (double)so_far_ns / 1e9, now);
    fflush(stderr);
}

static void print_over_early(uint64_t took_ns, uint64_t budget_ns, const char *why)
{
    fprintf(stderr, "check: ended after %.0f of %.0f s: %s\n", (double)took_ns / 1e9, (double)budget_ns / 1e9, why);
}

/* ---- the job ---- */

static bool find_program(struct task *t)
{
    char **name = &t->argv.at[0], *found = dh_program_find(*name);
    if (!found) {
        dh_notice("check: %s: %s", *name, strchr(*name, '/') ? strerror(errno) : "not found on PATH");
        return false;
    }
    struct dh_check *c = &t->check;
    c->program = dh_path_real(found);
    c->is_searchable = c->program && dh_container_present(c->program);
    c->policy = beside_store(t, "", dh_basename(found), ".dhp");
    if (strchr(*name, '/')) {
        free(found); /* a script of libtool keeps its name: it says where libraries are */
    } else {
        free(*name);
        *name = found;
    }
    c->argv = t->argv.at;
    return c->program;
}

/* A store that cannot be used is an error before anything is done. */
static bool open_store(struct dh_check *c)
{
    struct dh_err err = {0};
    struct dh_store *s = dh_store_open(c->db, DH_STORE_WRITE, &err);
    bool ok = s && dh_store_last_run(s, &c->since, &err);
    dh_store_close(s);
    if (!ok)
        dh_fail(&err, 0);
    return ok;
}

static int check_program(struct task *t)
{
    struct dh_err err = {0};
    struct dh_check *c = &t->check;
    if (!find_program(t))
        return DH_EXIT_USAGE;
    char *folder = beside_store(t, "inputs", "", "");
    bool ok = dh_check_input_open(&c->input, t->input, folder, &err);
    free(folder);
    if (!ok)
        return dh_fail(&err, t->input ? DH_EXIT_USAGE : DH_EXIT_FAILURE);
    c->state = dh_stage_state_new(&err);
    if (!c->state)
        return dh_fail(&err, DH_EXIT_FAILURE);
    struct dh_check_host host = {isatty(STDERR_FILENO) ? print_progress : NULL, print_still, print_stage,
                                 print_over_early};
    c->host = &host;
    dh_stage_watch_signals();
    static const int codes[] = {
        [DH_STAGE_DONE] = DH_EXIT_OK, [DH_STAGE_USAGE] = DH_EXIT_USAGE, [DH_STAGE_FAILED] = DH_EXIT_FAILURE};
    int code = c->is_searchable ? codes[dh_check_chain(c)] : dh_check_script(c, t->parsed, t->format, t->suspected);
    code = c->is_searchable && code == DH_EXIT_OK ? report(t) : code;
    dh_stage_state_free(c->state);
    return code;
}

static int check(struct task *t)
{
    struct dh_check *c = &t->check;
    int code;
    c->began_ns = dh_now_ns();
    if (!c->only_run)
        dh_deadline_narrow(dh_check_ends(c));
    if (!dh_suppressions_option_check("check", c->suppressions))
        return DH_EXIT_USAGE;
    if (!open_store(c))
        return DH_EXIT_FAILURE;
    if (t->n_sources && !build(t, &code))
        return code;
    return check_program(t);
}

/* ---- from the command line ---- */

/* FILE... [-- ARG...] builds; PROG [ARG...] and -- PROG [ARG...] run. */
static bool read_operands(struct task *t, char **operands, int n, int before)
{
    int sources = 0;
    while (sources < before && compiler_of(operands[sources]))
        sources++;
    if (sources && sources < before) {
        dh_notice("check: '%s' is no C or C++ source; arguments of the program follow '--'", operands[sources]);
        return false;
    }
    t->sources = operands;
    t->n_sources = sources;
    if (sources)
        dh_argv_add(&t->argv, "");
    dh_argv_add_all(&t->argv, operands + sources, n - sources);
    if (t->argv.n)
        return true;
    dh_notice("check: name a source file or a program: deadheat check FILE.c | -- PROG args");
    return false;
}

static int words_before_dashes(int argc, char **argv, int n_operands)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return n_operands - (argc - i - 1);
    return n_operands;
}

/* "no" is 0; without it there is no limit but that of all. */
static bool read_time(const struct dh_parsed *p, const char *option, bool may_be_no, uint64_t *ns)
{
    const char *text = dh_option_get(p, option);
    *ns = text ? 0 : UINT64_MAX;
    if (!text || (may_be_no && strcmp(text, "no") == 0) || dh_read_time(text, ns))
        return true;
    dh_notice("check: --%s=%s: expected a time such as 5s or 500ms%s", option, text, may_be_no ? ", or no" : "");
    return false;
}

static bool read_options(const struct dh_parsed *p, struct task *t)
{
    struct dh_check *c = &t->check;
    if (!read_time(p, "budget", false, &c->budget_ns) || !read_time(p, "prove", true, &c->prove_ns) ||
        !read_time(p, "classify", true, &c->classify_ns))
        return false;
    const char *schedules = dh_option_get(p, "schedules");
    if (schedules && !dh_read_count(schedules, &c->schedules)) {
        dh_notice("check: --schedules=%s: expected a number from 1", schedules);
        return false;
    }
    c->db = dh_option_get(p, "db");
    c->child = dh_option_get(p, "child");
    c->suppressions = dh_option_get(p, "suppressions");
    c->only_run = !c->prove_ns && !dh_option_given(p, "classify");
    c->heals = !dh_option_given(p, "no-heal");
    c->for_real = dh_option_given(p, "for-real");
    t->format = dh_report_format_find(dh_option_get(p, "format"));
    c->keeps_stdout = !t->format->is_prose;
    c->reports_all = dh_option_given(p, "rounds");
    t->input = dh_option_get(p, "input");
    t->suspected = dh_option_given(p, "suspected");
    return true;
}

static int run_check(const struct dh_command *self, int argc, char **argv)
{
    bool done;
    struct dh_parsed *p = dh_options_parse(self, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    struct task t = {.parsed = p, .check.input.descriptor = -1, .check.is_part = getenv(DH_PART_VARIABLE)};
    unsetenv(DH_PART_VARIABLE);
    char **operands;
    int n = dh_operands(p, &operands), code = DH_EXIT_OK;
    if (!done)
        code = read_options(p, &t) && read_operands(&t, operands, n, words_before_dashes(argc, argv, n))
                   ? check(&t)
                   : DH_EXIT_USAGE;
    dh_check_input_release(&t.check.input);
    free(t.check.program);
    free(t.check.policy);
    dh_argv_release(&t.argv);
    dh_parsed_free(p);
    return code;
}

static const struct dh_option options[] = {
    {"budget", DH_OPTION_STRING, "TIME", "60s",
     "how long all of it may take, at most: 60s, 5m; it ends earlier when what is tried again shows nothing new. A "
     "program that "
     "does not end is ended after half of it, or when it only waits and nothing can come from outside"},
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings; made if missing"},
    {"suppressions", DH_OPTION_STRING, "FILE", NULL,
     "findings not to be stored or counted: lines race:PATTERN, race_top:, mutex:, deadlock:, view:, atomicity:, "
     "annotation:, ... as other race detectors read them"},
    {"prove", DH_OPTION_STRING, "TIME|no", NULL,
     "at most so much of it for searching schedules ('deadheat prove' has more); no: one run with the detectors, and "
     "nothing else"},
    {"classify", DH_OPTION_STRING, "TIME|no", NULL,
     "at most so much of it for trying whether races matter ('deadheat classify' has more)"},
    {"schedules", DH_OPTION_STRING, "N", NULL,
     "at most so many per search, and one search for each finding: what comes of it is the same on a busy machine, if "
     "the budget is large enough"},
    DH_CHILD_OPTION,
    {"for-real", DH_OPTION_FLAG, NULL, NULL,
     "what runs write to files stays: for programs whose files others wait for (a file with its number, a socket)"},
    {"no-heal", DH_OPTION_FLAG, NULL, NULL, "no policy is written"},
    {"input", DH_OPTION_STRING, "FILE", NULL,
     "standard input of the program; without it ours, which is kept for the runs behind the first"},
    {"suspected", DH_OPTION_FLAG, NULL, NULL,
     "what is only suspected is in the table, too, instead of a line that counts it"},
    {"rounds", DH_OPTION_FLAG, NULL, NULL,
     "a line for every stage of every round, not only the first and those with news"},
    {"format", DH_OPTION_CHOICE, dh_report_format_choice, dh_report_format_default,
     "the table, or all findings as the JSON document of 'deadheat report'; the program's output goes to standard "
     "error then"},
    {0}};

const struct dh_command dh_command_check = {
    .name = "check",
    .usage = "[OPTION...] FILE.c... [-- ARG...] | [OPTION...] -- PROG [ARG...]",
    .summary = "the whole chain: find, prove, classify and heal, and list what came of it",
    .description =
        "Builds source files with 'deadheat cc', or takes a program that was built with it, and goes through the\n"
        "chain: runs it with every detector, then with noise (run), suspects by static analysis (scan), searches\n"
        "schedules that prove what was found and whatever else there is (prove), tries whether races matter\n"
        "(classify), and writes a policy that heals what does, verified (heal). Time goes where something can still\n"
        "rise: everybody gets a little of the budget first, and more in every round that is needed. A line for each\n"
        "stage is written to standard error; the first run has the program's own output and input. What a program "
        "writes to\n"
        "files is gone after each run, where the system allows it (docs/proving.md); what scripts do is real.\n\n"
        "At the end comes a table: finding, kind, variable, level, verdict, healing, what to type next, and the\n"
        "places. What was proven comes first, then what was seen; findings of one kind on one variable are one row, "
        "and so\n"
        "is what comes between accesses that race; in a long table, so are races between the same functions.\n"
        "What is only suspected is counted in a line below, with the command that shows it. Ctrl-C ends the stage\n"
        "and keeps what was found.\n\n"
        "Exit status 0: nothing was observed or proven; 1: something was, or the program was killed by a signal;\n"
        "2: bad usage, or a program that is none of ours; 3: our own failure, or the schedules of the program could\n"
        "not be searched, whatever its run showed (a line says why); 130: interrupted before anything was found.",
    .examples = "  deadheat check bank.c\n  deadheat check queue.cc -- 4 1000\n  deadheat check -- ./server --once\n"
                "  deadheat check --budget=10m --format=json -- ./queue < requests\n",
    .options = options,
    .run = run_check,
};
