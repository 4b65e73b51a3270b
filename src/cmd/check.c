/* deadheat check: build if needed, run with every detector there is, a table of what was found. */
#include "base/str.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/detector_list.h"
#include "cmd/launch.h"
#include "cmd/prove_goals.h"
#include "finding/store.h"
#include "host/file.h"
#include "host/process.h"
#include "host/resources.h"
#include "report/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Suffixes of what goes into a program, and which command it asks for. */
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
    const char *suppressions; /* file, or NULL */
    const char *db;
    char **sources; /* none: argv is a program */
    int n_sources;
    char *folder;      /* of what was built, or NULL */
    uint64_t prove_ns; /* to prove what was found; 0: not at all */
    struct dh_argv argv;
};

static bool build(struct task *t, int *code)
{
    struct dh_err err = {0};
    struct dh_argv line = {0};
    int status = 0;
    char *self = dh_resource_self(&err), *program = NULL;
    const char *compiler = "cc";
    t->folder = self ? dh_temp_folder(&err) : NULL;
    bool ok = t->folder;
    if (ok) {
        for (int i = 0; i < t->n_sources; i++)
            if (strcmp(compiler_of(t->sources[i]), "c++") == 0)
                compiler = "c++";
        program =
            dh_format("%s/%.*s", t->folder, (int)strcspn(dh_basename(t->sources[0]), "."), dh_basename(t->sources[0]));
        dh_argv_add(&line, self);
        dh_argv_add(&line, compiler);
        dh_argv_add(&line, "-O1");
        dh_argv_add(&line, "-pthread");
        dh_argv_add_all(&line, t->sources, t->n_sources);
        dh_argv_add(&line, "-o");
        dh_argv_add(&line, program);
        dh_argv_add(&line, "-lm");
        ok = dh_process_run(&line, NULL, &status, &err);
    }
    *code = ok ? DH_EXIT_USAGE : dh_fail(&err, DH_EXIT_FAILURE);
    if (ok && status != 0) {
        dh_complain("check: not built: see above");
        ok = false;
    }
    if (ok)
        t->argv.at[0] = (free(t->argv.at[0]), dh_strdup(program));
    dh_argv_release(&line);
    free(program);
    free(self);
    return ok;
}

/* ---- the table ---- */

struct row {
    char *id, *kind, *level, *what;
    DH_VEC(char *) where;
};

struct table {
    DH_VEC(struct row) rows;
};

static char *place_of(const struct dh_finding_access *a)
{
    struct dh_str s = {0};
    if (a->forgotten)
        dh_str_add(&s, "place not known any more");
    else
        dh_text_place(&s, a);
    dh_str_addf(&s, " (%s%s%s)", a->op, a->object[0] ? " " : "", a->object);
    return dh_str_take(&s);
}

static void add_row(void *arg, const struct dh_finding *f)
{
    struct table *t = arg;
    struct row r = {
        .id = dh_format("%.8s", f->id),
        .kind = dh_strdup(f->kind),
        .level = dh_strdup(f->level),
        .what = f->type[0] ? dh_format("%s (%s)", f->variable, f->type) : dh_strdup(f->variable),
    };
    for (size_t i = 0; i < f->accesses.n; i++)
        dh_vec_push(&r.where, place_of(&f->accesses.at[i]));
    dh_vec_push(&t->rows, r);
}

static void release_table(struct table *t)
{
    for (size_t i = 0; i < t->rows.n; i++) {
        struct row *r = &t->rows.at[i];
        for (size_t k = 0; k < r->where.n; k++)
            free(r->where.at[k]);
        dh_vec_release(&r->where);
        free(r->id);
        free(r->kind);
        free(r->level);
        free(r->what);
    }
    dh_vec_release(&t->rows);
}

static int widest(const struct table *t)
{
    size_t most = strlen("variable");
    for (size_t i = 0; i < t->rows.n; i++)
        most = strlen(t->rows.at[i].what) > most ? strlen(t->rows.at[i].what) : most;
    return most > 40 ? 40 : (int)most;
}

/* How many from `i` on are the same: of five philosophers at one place one line says enough, of two both are shown. */
static size_t repeats(const struct row *r, size_t i)
{
    size_t n = 1;
    while (i + n < r->where.n && strcmp(r->where.at[i], r->where.at[i + n]) == 0)
        n++;
    return n > 2 ? n : 1;
}

static void print_row(const struct row *r, int width)
{
    printf("%-8s  %-15s  %-9s  %-*s", r->id, r->kind, r->level, width, r->what);
    for (size_t i = 0, n; i < r->where.n; i += n) {
        n = repeats(r, i);
        printf("%*s  %s", i ? 8 + 2 + 15 + 2 + 9 + 2 + width : 0, "", r->where.at[i]);
        if (n > 1)
            printf(", %zu times", n);
        printf("\n");
    }
    if (!r->where.n)
        printf("\n");
}

/* What is proven comes first, what is only suspected last. */
static const char *const levels[] = {"proven", "observed", "suspected"};
enum { LEVELS = sizeof levels / sizeof *levels };

static void print_counts(const struct table *t)
{
    printf("%zu finding%s", t->rows.n, t->rows.n == 1 ? "" : "s");
    for (size_t k = 0, printed = 0; k < LEVELS; k++) {
        size_t n = 0;
        for (size_t i = 0; i < t->rows.n; i++)
            n += strcmp(t->rows.at[i].level, levels[k]) == 0;
        if (n && n < t->rows.n)
            printf("%s%zu %s", printed++ ? ", " : ": ", n, levels[k]);
    }
}

static void print_table(const struct table *t, const char *db)
{
    int width = widest(t);
    bool other = strcmp(db, DH_STORE_DEFAULT) != 0;
    const struct row *first = NULL;
    if (!t->rows.n) {
        printf("deadheat: nothing found in this run\n");
        return;
    }
    printf("%-8s  %-15s  %-9s  %-*s  where\n", "finding", "kind", "level", width, "variable");
    for (size_t k = 0; k < LEVELS; k++)
        for (size_t i = 0; i < t->rows.n; i++)
            if (strcmp(t->rows.at[i].level, levels[k]) == 0) {
                print_row(&t->rows.at[i], width);
                first = first ? first : &t->rows.at[i];
            }
    printf("\n");
    print_counts(t);
    printf(". Stacks, locks and values: deadheat report%s%s --id=%s\n", other ? " --db=" : "", other ? db : "",
           first ? first->id : t->rows.at[0].id);
}

static int tell(const struct task *t, long long run, int status)
{
    struct dh_err err = {0};
    struct table table = {0};
    struct dh_store_choice choice = {.run = run};
    struct dh_store *s = dh_store_open(t->db, DH_STORE_READ, &err);
    bool ok = s && dh_store_each(s, &choice, add_row, &table, &err);
    dh_store_close(s);
    if (!ok)
        return dh_fail(&err, DH_EXIT_FAILURE);
    bool died = WIFSIGNALED(status);
    fflush(stdout);
    if (status != 0 && !(table.rows.n && dh_status_code(status) == 66)) {
        char *words = dh_status_words(status);
        dh_complain("check: the program ended with %s", words);
        free(words);
    }
    print_table(&table, t->db);
    int code = table.rows.n || died ? DH_EXIT_FINDINGS : DH_EXIT_OK;
    release_table(&table);
    return code;
}

/* ---- proving ---- */

extern char **environ;

static char **copy_environment(void)
{
    DH_VEC(char *) all = {0};
    for (char **e = environ; *e; e++)
        dh_vec_push(&all, dh_strdup(*e));
    dh_vec_push(&all, NULL);
    return all.at;
}

/* What the run was told of through the environment is not for the searches. */
static void prove_found(const struct task *t, char **environment, const struct dh_import *stored)
{
    if (!t->prove_ns || !stored->findings)
        return;
    clearenv();
    for (char **e = environment; *e; e++)
        putenv(*e);
    dh_prove_found("check", t->db, stored->run, t->argv.at, t->prove_ns);
}

static int check_with(struct task *t, const char *detect, const char *plan)
{
    struct dh_launch l = {.command = "check",
                          .plan = plan,
                          .detect = detect,
                          .db = t->db,
                          .suppressions = t->suppressions,
                          .quiet = true,
                          .argv = t->argv.at};
    struct dh_import stored = {0};
    int status = 0, code;
    if (!dh_launch_check_suppressions(l.command, l.suppressions))
        return DH_EXIT_USAGE;
    if (t->n_sources && !build(t, &code))
        return code;
    l.argv = t->argv.at;
    char **environment = copy_environment(); /* stays: what is put back refers to it */
    code = dh_launch(&l, &status, &stored);
    if (code == DH_EXIT_OK)
        prove_found(t, environment, &stored);
    dh_import_release(&stored);
    return code == DH_EXIT_OK ? tell(t, stored.run, status) : code;
}

static int check(struct task *t)
{
    char *detect = dh_detector_list_all(","), *plan = dh_detector_list_plan(detect);
    int code = check_with(t, detect, plan);
    free(detect);
    free(plan);
    return code;
}

/* FILE... [-- ARG...] builds; PROG [ARG...] and -- PROG [ARG...] run. */
static bool read_operands(struct task *t, char **operands, int n, int before)
{
    int sources = 0;
    while (sources < before && compiler_of(operands[sources]))
        sources++;
    if (sources && sources < before) {
        dh_complain("check: '%s' is no C or C++ source; arguments of the program follow '--'", operands[sources]);
        return false;
    }
    t->sources = operands;
    t->n_sources = sources;
    if (sources)
        dh_argv_add(&t->argv, "");
    dh_argv_add_all(&t->argv, operands + sources, n - sources);
    if (t->argv.n)
        return true;
    dh_complain("check: name a source file or a program: deadheat check FILE.c | -- PROG args");
    return false;
}

static int words_before_dashes(int argc, char **argv, int n_operands)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return n_operands - (argc - i - 1);
    return n_operands;
}

static int run_check(const struct dh_command *self, int argc, char **argv)
{
    bool done;
    struct dh_parsed *p = dh_options_parse(self, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    struct task t = {.db = dh_option_get(p, "db"), .suppressions = dh_option_get(p, "suppressions")};
    char **operands;
    int n = dh_operands(p, &operands), code = DH_EXIT_OK;
    const char *budget = done ? "0" : dh_option_get(p, "prove");
    if (!done && strcmp(budget, "no") != 0 && !dh_read_time(budget, &t.prove_ns)) {
        dh_complain("check: --prove=%s: expected a time such as 5s or 500ms, or no", budget);
        code = DH_EXIT_USAGE;
    } else if (!done)
        code = read_operands(&t, operands, n, words_before_dashes(argc, argv, n)) ? check(&t) : DH_EXIT_USAGE;
    if (t.folder)
        dh_remove_tree(t.folder);
    free(t.folder);
    dh_argv_release(&t.argv);
    dh_parsed_free(p);
    return code;
}

static const struct dh_option options[] = {
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings; made if missing"},
    {"suppressions", DH_OPTION_STRING, "FILE", NULL,
     "findings not to be stored or counted: lines race:PATTERN, race_top:, mutex:, deadlock:, view:, atomicity:, "
     "annotation:, ... as other race detectors read them"},
    {"prove", DH_OPTION_STRING, "TIME|no", "5s",
     "how long to search for schedules that prove what was found, each replayed with its witness ('deadheat prove' has "
     "more); no: only run"},
    {0}};

const struct dh_command dh_command_check = {
    .name = "check",
    .usage = "[OPTION...] FILE.c... [-- ARG...] | [OPTION...] -- PROG [ARG...]",
    .summary = "build, run with every detector, and list what was found",
    .description =
        "Builds source files with 'deadheat cc' in a temporary folder, or takes a program that was built with it, "
        "runs\n"
        "it with the detectors there are, stores what they find, proves what it can of it, and prints a table: "
        "finding,\n"
        "kind, level, variable, the places, and the command that tells more. What is proven comes first, then what "
        "was\n"
        "observed in the run, then what is suspected.\n"
        "The program's output stays its own.\n\n"
        "Exit status 0: nothing was found in this run; 1: findings, or the program was killed by a signal.",
    .examples = "  deadheat check bank.c\n  deadheat check queue.cc -- 4 1000\n  deadheat check -- ./server --once\n",
    .options = options,
    .run = run_check,
};
