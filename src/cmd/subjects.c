#include "cmd/subjects.h"

#include "host/file.h"
#include "host/process.h"
#include "host/resources.h"
#include "launch/launch.h"
#include "prove/engine_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool dh_is_script(const char *program)
{
    char *file = dh_program_find(program);
    bool is = file && !dh_launch_is_ours(file);
    free(file);
    return is;
}

/* ---- the command for one subject ---- */

/* As it was called, if that leads to the same file from its folder. */
static char *called(const struct dh_subject_record *r)
{
    const char *word = r->argv.at[0];
    char *path = word[0] == '/' ? dh_strdup(word) : dh_format("%s/%s", r->folder, word), *real = dh_path_real(path);
    bool same = strchr(word, '/') && real && strcmp(real, r->program) == 0;
    free(path);
    free(real);
    return dh_strdup(same ? word : r->program);
}

static bool command_line(const struct dh_parsed *p, const struct dh_command *c, const struct dh_subject_record *r,
                         uint64_t budget_ns, struct dh_argv *line)
{
    static const char *const ours[] = {"budget", "input", "db", NULL};
    struct dh_err err = {0};
    char *self = dh_resource_self(&err), *db = dh_path_absolute(dh_option_get(p, "db")), *name = called(r);
    if (!self)
        return dh_fail(&err, false);
    dh_argv_add(line, self);
    dh_argv_add(line, c->name);
    dh_options_repeat(p, ours, line);
    dh_argv_addf(line, "--db=%s", db);
    if (budget_ns)
        dh_argv_addf(line, "--budget=%llums", (unsigned long long)(budget_ns / 1000000 + 1));
    if (r->input[0])
        dh_argv_addf(line, "--input=%s", r->input);
    dh_argv_add(line, "--");
    dh_argv_add(line, name);
    dh_argv_add_all(line, r->argv.at + 1, (int)r->argv.n - 2);
    free(self);
    free(db);
    free(name);
    return true;
}

static void read_all(int from, struct dh_str *out)
{
    char block[4096];
    for (ssize_t n; (n = read(from, block, sizeof block)) > 0 || (n < 0 && errno == EINTR);)
        if (n > 0)
            dh_str_add_n(out, block, (size_t)n);
    close(from);
}

/* Ctrl-C is the subject's own affair: it ends with what it has. */
static int run_in_subject(const struct dh_subject_record *r, const struct dh_argv *line, struct dh_str *out)
{
    int ends[2] = {-1, -1}, status = 0;
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    if (out && pipe(ends) != 0)
        return DH_EXIT_FAILURE;
    fflush(NULL);
    sigaction(SIGINT, &ignored, &before);
    pid_t pid = fork();
    if (pid == 0) {
        sigaction(SIGINT, &before, NULL);
        if (out) {
            dup2(ends[1], STDOUT_FILENO);
            close(ends[0]), close(ends[1]);
        }
        dh_subject_record_enter(r);
        if (out)
            setenv(DH_PART_VARIABLE, "1", 1);
        execv(line->at[0], line->at);
        _exit(127);
    }
    if (out) {
        close(ends[1]);
        read_all(ends[0], out);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &before, NULL);
    return pid > 0 ? dh_status_code(status) : DH_EXIT_FAILURE;
}

int dh_subject_run(const struct dh_parsed *p, const struct dh_command *c, const struct dh_subject_record *r,
                   uint64_t budget_ns, struct dh_str *out)
{
    struct dh_argv line = {0};
    int code = command_line(p, c, r, budget_ns, &line) ? run_in_subject(r, &line, out) : DH_EXIT_FAILURE;
    dh_argv_release(&line);
    return code;
}

/* ---- a script ---- */

/* Its output is not the command's; what it complains of is shown. */
static bool run_script(char **argv, struct dh_err *err)
{
    char *file = dh_program_find(argv[0]);
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nothing >= 0)
            dup2(nothing, STDOUT_FILENO);
        dh_runtime_option_add("detect", "none"); /* a finding's exit code would change the script's way */
        execv(file, argv);
        _exit(127);
    }
    free(file);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 || dh_err_errno(err, "cannot run %s", argv[0]);
}

bool dh_subjects_read(const struct dh_parsed *p, const char *folder, struct dh_subject_records *out, struct dh_err *err)
{
    const char *db = dh_option_get(p, "db");
    char *inputs = dh_format("%.*sinputs", (int)(dh_basename(db) - db), db);
    bool ok = dh_subject_records_end(folder, out, err) && dh_subject_records_keep_inputs(out, folder, inputs, err);
    free(inputs);
    return ok;
}

/* Who names a file that is a program means that program; make and the like, and scripts, could have started one. */
int dh_no_subjects(const char *command, const char *called)
{
    struct dh_err err = {0};
    char *file = dh_program_find(called);
    bool is_program = strchr(called, '/') && file && dh_launch_is_binary(file);
    bool is_plain = !is_program || dh_launch_can_run(file, &err);
    free(file);
    if (!is_plain)
        return dh_fail(&err, DH_EXIT_USAGE);
    if (is_program)
        dh_notice("%s: %s is not built with 'deadheat cc', and started no program that is", command, called);
    else
        dh_notice("%s: %s started no program that is built with 'deadheat cc'", command, called);
    return is_program ? DH_EXIT_USAGE : DH_EXIT_FAILURE;
}

static void say_subjects(const char *command, const char *script, const struct dh_subject_records *r)
{
    dh_notice("%s: %s started %zu program%s built with 'deadheat cc', %u of them with threads:", command, script,
              r->at.n, r->at.n == 1 ? "" : "s", r->with_threads);
    for (size_t i = 0; i < r->at.n; i++) {
        char *words = dh_subject_record_words(&r->at.at[i]);
        dh_notice("  %s%s%s%s", words, r->at.at[i].threads ? "" : "  (no threads)",
                  r->at.at[i].note[0] ? "  without input: " : "", r->at.at[i].note);
        free(words);
    }
}

int dh_worse_exit(int a, int b)
{
    static const int order[] = {DH_EXIT_FINDINGS, DH_EXIT_FAILURE, DH_EXIT_USAGE};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a;
}

static int run_subjects(const struct dh_parsed *p, const struct dh_command *c, const struct dh_subject_records *r)
{
    uint64_t budget = 0;
    const char *text = dh_option_get(p, "budget");
    if (text && !dh_read_time(text, &budget)) {
        dh_notice("%s: --budget=%s: expected a time such as 10s, 500ms or 5m", c->name, text);
        return DH_EXIT_USAGE;
    }
    uint64_t until = dh_now_ns() + budget;
    unsigned left = r->with_threads;
    int code = DH_EXIT_OK;
    for (size_t i = 0; i < r->at.n; i++) {
        uint64_t now = dh_now_ns();
        if (!r->at.at[i].threads)
            continue;
        int result = dh_subject_run(p, c, &r->at.at[i], now < until ? (until - now) / left : 1, NULL);
        code = left-- == r->with_threads ? result : dh_worse_exit(code, result);
    }
    return code;
}

static int command_on_subjects(const struct dh_parsed *p, const struct dh_command *c)
{
    struct dh_err err = {0};
    struct dh_subject_records r;
    char **argv, *folder = dh_subject_records_begin(&err);
    dh_operands(p, &argv);
    if (!folder || !run_script(argv, &err) || !dh_subjects_read(p, folder, &r, &err)) {
        free(folder);
        return dh_fail(&err, DH_EXIT_FAILURE);
    }
    if (r.at.n)
        say_subjects(c->name, argv[0], &r);
    int code = !r.at.n ? dh_no_subjects(c->name, argv[0]) : r.with_threads ? run_subjects(p, c, &r) : DH_EXIT_USAGE;
    dh_subject_records_release(&r);
    dh_remove_tree(folder);
    free(folder);
    return code;
}

int dh_command_on_program(const struct dh_command *c, int argc, char **argv, int (*fn)(const struct dh_parsed *p))
{
    bool done;
    char **operands;
    struct dh_parsed *p = dh_options_parse(c, argc, argv, &done);
    if (!p)
        return DH_EXIT_USAGE;
    int code = done                                                     ? DH_EXIT_OK
               : dh_operands(p, &operands) && dh_is_script(operands[0]) ? command_on_subjects(p, c)
                                                                        : fn(p);
    dh_parsed_free(p);
    return code;
}
