/* deadheat classify: does a race matter? Runs with stale but legal values, what fails, and the table of it. */
#include "base/str.h"
#include "cmd/classify_keep.h"
#include "cmd/command.h"
#include "cmd/launch.h"
#include "cmd/prove_goals.h"
#include "prove/show.h"
#include "report/text.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BASELINE_NS 3000000000ull

struct row {
    char *name;
    const char *verdict;
    struct dh_classify_column columns[DH_CLASSIFY_COLUMNS];
    unsigned n_columns;
};

struct classifying {
    const struct dh_parsed *parsed;
    const char *db;
    char *folder; /* of witnesses */
    struct dh_subject subject;
    struct dh_classify_options options;
    struct dh_baseline baseline;
    struct dh_races races;
    struct dh_racy_variables variables;
    DH_VEC(struct row) rows;
    bool quiet, whole, told, as_json;
    unsigned destructive;
};

/* ---- interrupting ---- */

static volatile sig_atomic_t asked_to_stop;

static void stop_soon(int signal)
{
    (void)signal;
    if (asked_to_stop++) /* twice: at once */
        _exit(130);
}

static bool interrupted(void *arg)
{
    (void)arg;
    return asked_to_stop;
}

/* ---- telling ---- */

static void clear_line(struct classifying *c)
{
    if (c->told)
        fprintf(stderr, "\r\033[K");
    c->told = false;
}

static void progress(void *arg, const char *variable, const char *what, uint64_t left_ns)
{
    struct classifying *c = arg;
    if (c->quiet || !isatty(2))
        return;
    fprintf(stderr, "\r\033[Kclassify: %s, %s, %.1f s left for it", variable, what, (double)left_ns / 1e9);
    fflush(stderr);
    c->told = true;
}

static unsigned terminal_width(void)
{
    struct winsize w;
    return ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col ? w.ws_col : 120;
}

static void print_failure(struct classifying *c, const struct dh_classified *d, const char *path)
{
    struct dh_str steps = {0};
    uint32_t stale = d->run.end->n_stale;
    printf("  %s\n  %s\n", d->why, d->explanation);
    printf(
        "  model %s, heuristic %s: %llu of %llu runs failed; %u stale read%s (found with %u), %u steps; replayed with "
        "kernel threads\n",
        d->failed->model, d->failed->title, (unsigned long long)d->failed->failed, (unsigned long long)d->failed->runs,
        stale, stale == 1 ? "" : "s", d->run.stale_before, d->run.schedule.n);
    dh_show(&steps, &c->subject, &d->run.schedule, d->run.end, terminal_width(), c->whole);
    printf("\n%s\n  deadheat replay %s -- %s\n\n", steps.at, dh_text_path(path), c->subject.called);
    dh_str_release(&steps);
}

static void print_classified(struct classifying *c, const struct dh_classified *d, const char *path)
{
    printf("%s: %s", d->verdict, d->variable->name);
    for (size_t i = 0; i < d->variable->findings.n; i++)
        printf("%s%.8s%s", i ? " " : "  [", d->variable->findings.at[i]->id,
               i + 1 == d->variable->findings.n ? "]" : "");
    printf("\n");
    if (d->failed)
        print_failure(c, d, path);
    else if (d->why[0])
        printf("  %s\n", d->why);
    if (d->unconfirmed)
        printf("  %llu failing run%s did not happen with kernel threads and do not count\n",
               (unsigned long long)d->unconfirmed, d->unconfirmed == 1 ? "" : "s");
    fflush(stdout);
}

static bool classified(void *arg, const struct dh_classified *d)
{
    struct classifying *c = arg;
    struct dh_err err = {0};
    struct row row = {.name = dh_strdup(d->variable->name), .verdict = d->verdict, .n_columns = d->n_columns};
    char *path;
    memcpy(row.columns, d->columns, sizeof row.columns);
    dh_vec_push(&c->rows, row);
    c->destructive += strcmp(d->verdict, "destructive") == 0;
    clear_line(c);
    bool ok = dh_classified_keep(d, &c->subject, c->db, c->folder, &path, &err);
    if (!ok)
        dh_fail(&err, 0);
    else if (c->as_json) {
        char *json = dh_classified_json(d, path ? path : "");
        printf("%s\n", json);
        free(json);
    } else if (!c->quiet)
        print_classified(c, d, path ? path : "");
    free(path);
    return ok;
}

/* ---- the table (004, Fig. 9) ---- */

static const struct dh_classify_column *column_of(const struct row *r, const char *title)
{
    for (unsigned i = 0; i < r->n_columns; i++)
        if (strcmp(r->columns[i].title, title) == 0)
            return &r->columns[i];
    return NULL;
}

static void print_table(const struct classifying *c)
{
    const struct row *most = NULL;
    int width = (int)strlen("variable");
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct row *r = &c->rows.at[i];
        width = (int)strlen(r->name) > width ? (int)strlen(r->name) : width;
        most = !most || r->n_columns > most->n_columns ? r : most;
    }
    if (!most)
        return;
    printf("runs that failed, in percent\n%-*s", width, "variable");
    for (unsigned i = 0; i < most->n_columns; i++)
        printf("  %s", most->columns[i].title);
    printf("  verdict\n");
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct row *r = &c->rows.at[i];
        printf("%-*s", width, r->name);
        for (unsigned k = 0; k < most->n_columns; k++) {
            const struct dh_classify_column *column = column_of(r, most->columns[k].title);
            int n = (int)strlen(most->columns[k].title);
            if (column && column->runs)
                printf("  %*.0f", n, 100.0 * (double)column->failed / (double)column->runs);
            else
                printf("  %*s", n, "-");
        }
        printf("  %s\n", r->verdict);
    }
}

/* ---- the job ---- */

static int no_baseline(struct classifying *c)
{
    if (c->baseline.no_threads) {
        dh_complain("classify: %s ended without having created a thread: nobody else can read what it writes",
                    c->subject.called);
        return DH_EXIT_USAGE;
    }
    char *words = dh_subject_explain(&c->subject, c->baseline.cannot);
    dh_complain("classify: %s: no baseline: %s", c->subject.called, words);
    free(words);
    return DH_EXIT_FAILURE;
}

static void tell_baseline(const struct classifying *c)
{
    const struct dh_baseline *b = &c->baseline;
    printf("baseline: %llu runs, %u outcome%s, exit status %d, %llu operations, %u threads%s%s\n",
           (unsigned long long)b->schedules, b->n_outcomes, b->n_outcomes == 1 ? "" : "s", b->status,
           (unsigned long long)b->operations, b->threads,
           b->output_varies ? "; the output is another one in many runs and does not count" : "",
           b->errors_vary ? "; standard error is another one in many runs and does not count" : "");
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++)
        if (b->ends[i] && i != DH_ENGINE_DONE && i != DH_ENGINE_CUT)
            printf("  %llu of them end otherwise already (%s): such ends count for nothing below\n",
                   (unsigned long long)b->ends[i], dh_engine_end_names[i]);
    printf("\n");
    fflush(stdout);
}

static int run_campaign(struct classifying *c)
{
    struct dh_err err = {0};
    struct dh_classify_host host = {progress, classified, interrupted, c};
    struct sigaction stop = {.sa_handler = stop_soon}, old_int, old_term;
    sigaction(SIGINT, &stop, &old_int);
    sigaction(SIGTERM, &stop, &old_term);
    progress(c, "baseline", "every variable as it is", BASELINE_NS);
    bool ok = dh_baseline_collect(&c->baseline, &c->subject, BASELINE_NS, &err);
    clear_line(c);
    bool has_baseline = ok && !c->baseline.no_threads && !c->baseline.cannot;
    if (has_baseline && !c->quiet && !c->as_json)
        tell_baseline(c);
    ok = ok && (!has_baseline || dh_classify(&c->subject, &c->baseline, &c->variables, &c->options, &host, &err));
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    clear_line(c);
    if (!ok)
        return err.text ? dh_fail(&err, DH_EXIT_FAILURE) : DH_EXIT_FAILURE;
    if (!has_baseline)
        return no_baseline(c);
    if (!c->quiet && !c->as_json)
        print_table(c);
    return c->destructive ? DH_EXIT_FINDINGS : DH_EXIT_OK;
}

/* ---- what is to be classified ---- */

static bool take_named(struct classifying *c, const char *name, int *code)
{
    struct dh_str near = {0};
    dh_str_add(&near, "");
    bool ok = dh_racy_variables_name(&c->variables, &c->subject, name, &near);
    if (!ok) {
        for (char *p = near.at; *p; p++)
            if (*p == '\n')
                *p = p[1] ? ',' : 0;
        dh_complain("classify: --variable=%s: no such variable in %s%s%s", name, c->subject.called,
                    near.at[0] ? "; there are: " : "", near.at);
        *code = DH_EXIT_USAGE;
    }
    dh_str_release(&near);
    if (!ok)
        return false;
    struct dh_racy_variable *v = &c->variables.at.at[0];
    for (size_t i = 0; i < c->races.at.n; i++)
        if (strcmp(c->races.at.at[i]->variable, name) == 0)
            dh_vec_push(&v->findings, c->races.at.at[i]);
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
        dh_complain("classify: the places of %zu race%s in %s are not in this build of %s; check it again", elsewhere,
                    elsewhere == 1 ? "" : "s", c->db, c->subject.called);
    else if (id)
        dh_complain("classify: no race %s that was observed or proven in %s", id, c->db);
    else
        dh_complain("classify: %s holds no race of %s that was observed or proven; 'deadheat check -- %s' looks for "
                    "them, --variable=NAME takes any variable",
                    c->db, c->subject.called, c->subject.called);
    *code = DH_EXIT_USAGE;
    return false;
}

static int classify_program(struct classifying *c)
{
    struct dh_err err = {0};
    const char *id = dh_option_get(c->parsed, "id"), *name = dh_option_get(c->parsed, "variable");
    int code = DH_EXIT_OK;
    if (!dh_races_read(&c->races, c->db, id, &c->subject, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if (name ? take_named(c, name, &code) : take_found(c, id, &code))
        code = run_campaign(c);
    for (size_t i = 0; i < c->rows.n; i++)
        free(c->rows.at[i].name);
    dh_vec_release(&c->rows);
    dh_racy_variables_release(&c->variables);
    dh_races_release(&c->races);
    dh_baseline_release(&c->baseline);
    return code;
}

static bool read_number(const struct dh_parsed *p, const char *option, uint64_t most, uint64_t *out)
{
    const char *text = dh_option_get(p, option);
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && !*end && n && n <= most) {
        *out = n;
        return true;
    }
    dh_complain("classify: --%s=%s: expected a number from 1 to %llu", option, text, (unsigned long long)most);
    return false;
}

static bool read_options(const struct dh_parsed *p, struct dh_classify_options *o)
{
    const char *budget = dh_option_get(p, "budget");
    *o = (struct dh_classify_options){.model = dh_option_get(p, "model")};
    if (!dh_read_time(budget, &o->budget_ns)) {
        dh_complain("classify: --budget=%s: expected a time such as 10s, 500ms or 5m", budget);
        return false;
    }
    return read_number(p, "runs", 1000000000, &o->runs) && read_number(p, "seed", UINT32_MAX, &o->seed);
}

static int classify_with(const struct dh_parsed *parsed)
{
    struct classifying c = {.parsed = parsed, .db = dh_option_get(parsed, "db")};
    struct dh_launch l = {.command = "classify", .plan = "engine", .detect = "none"};
    struct dh_err err = {0};
    const char *input = dh_option_get(parsed, "input");
    char *program, *variant;
    int code = DH_EXIT_USAGE;
    if (dh_operands(parsed, &l.argv) < 1) {
        dh_complain("classify: name a program: deadheat classify [OPTION...] -- PROG args");
        return code;
    }
    if (!read_options(parsed, &c.options))
        return code;
    if (input && access(input, R_OK) != 0) {
        dh_complain("classify: --input=%s cannot be read", input);
        return code;
    }
    c.quiet = dh_option_given(parsed, "quiet");
    c.whole = dh_option_given(parsed, "whole");
    c.as_json = strcmp(dh_option_get(parsed, "format"), "json") == 0;
    variant = dh_launch_variant(&l, &program, &code);
    if (!variant)
        return code;
    c.folder = dh_option_given(parsed, "-o") ? dh_strdup(dh_option_get(parsed, "-o")) : dh_witness_folder(c.db);
    code = dh_subject_open(&c.subject, program, variant, l.argv, input, &err) ? classify_program(&c)
                                                                              : dh_fail(&err, DH_EXIT_USAGE);
    dh_subject_release(&c.subject);
    free(c.folder);
    free(variant);
    free(program);
    return code;
}

static int run_classify(const struct dh_command *self, int argc, char **argv)
{
    bool done;
    struct dh_parsed *p = dh_options_parse(self, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    int code = done ? DH_EXIT_OK : classify_with(p);
    dh_parsed_free(p);
    return code;
}

static const struct dh_option options[] = {
    {"budget", DH_OPTION_STRING, "TIME", "10s", "how long to try each variable: 10s, 500ms, 5m"},
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings"},
    {"id", DH_OPTION_STRING, "ID", NULL, "only the race whose id begins so"},
    {"variable", DH_OPTION_STRING, "NAME", NULL,
     "this variable, whatever the store holds: 'counter', 'struct account.balance'"},
    {"model", DH_OPTION_CHOICE, "sc|hb", NULL, "only runs by this memory model"},
    {"runs", DH_OPTION_STRING, "N", "100", "runs of each heuristic"},
    {"seed", DH_OPTION_STRING, "N", "1", "of what is chosen at random"},
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
        "with this input, nothing happened, and it says whether any read ever had a second value to see.\n\n"
        "A failing run is reduced to the fewest stale reads, replayed in a fresh process with real threads, kept as a\n"
        "witness that 'deadheat replay' runs, and its first wrong read is explained. Verdicts go to the store.\n\n"
        "Exit status 0: nothing is destructive; 1: something is; 2: bad usage, or nothing to classify; 3: there is no\n"
        "baseline, or the program cannot be explored.",
    .examples = "  deadheat check -- ./bank; deadheat classify -- ./bank\n"
                "  deadheat classify --variable='struct account.balance' --budget=1m -- ./bank\n",
    .options = options,
    .run = run_classify,
};
