/* deadheat replay: run a witness again, with kernel threads, and check that the same happens. */
#include "base/alloc.h"
#include "base/str.h"
#include "cmd/run_options.h"
#include "host/process.h"
#include "launch/open_subject.h"
#include "launch/witness_run.h"
#include "prove/schedule_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct replaying {
    const struct dh_parsed *parsed;
    const char *path;
    struct dh_witness_run run;
    unsigned times;
};

/* ---- what will be run ---- */

static void put_word(const char *word)
{
    bool plain =
        *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:=,@%")];
    if (plain) {
        printf(" %s", word);
        return;
    }
    printf(" '");
    for (; *word; word++)
        printf(*word == '\'' ? "'\\''" : "%c", *word);
    printf("'");
}

static void print_command(const struct replaying *r)
{
    printf("runs:");
    for (size_t i = 0; i < r->run.witness.environment.n; i++)
        put_word(r->run.witness.environment.at[i]);
    for (size_t i = 0; r->run.argv.at[i]; i++)
        put_word(r->run.argv.at[i]);
    if (r->run.witness.input[0]) {
        printf(" <");
        put_word(r->run.witness.input);
    }
    printf("\n");
    fflush(stdout);
}

/* ---- both orders of a race ---- */

/* The schedule with the two accesses after it, `first` of them first. */
static struct dh_engine_decision *extended(const struct replaying *r, unsigned first)
{
    const struct dh_schedule s = dh_resolved_witness_schedule(&r->run.plot);
    struct dh_engine_decision *d = dh_xcalloc(s.n + 2, sizeof *d);
    memcpy(d, s.decisions, s.n * sizeof *d);
    for (unsigned i = 0; i < 2; i++) {
        const struct dh_engine_party *p = &r->run.plot.end->parties[i == 0 ? first : 1 - first];
        d[s.n + i] = (struct dh_engine_decision){
            .thread = p->thread, .place = p->place, .occurrence = p->occurrence, .kind = p->kind};
    }
    return d;
}

static void print_order(const struct replaying *r, unsigned first, const struct dh_replayed *how)
{
    const struct dh_engine_party *p = &r->run.plot.end->parties[first];
    const struct dh_site_table *t;
    const struct dh_site *site = dh_place_names_site(r->run.subject.places, p->place, &t);
    char *words = dh_status_text(how->status);
    printf("T%u first", p->thread);
    if (site)
        printf(" (%s %s at %s:%u)", dh_op_info(site->op)->name, dh_site_string(t, site->variable),
               dh_basename(dh_site_string(t, site->file)), site->line);
    printf(": %s\n", !how->in_time ? "did not end in time" : how->status ? words : "ends with exit code 0");
    free(words);
    const char *at = how->output.at ? how->output.at : "";
    for (size_t n; *at; at += n + (at[n] == '\n')) {
        n = strcspn(at, "\n");
        printf("    %.*s\n", (int)n, at);
    }
}

static unsigned for_real(const struct replaying *r)
{
    return r->run.for_real ? DH_REPLAY_FOR_REAL : 0;
}

static bool run_order(struct replaying *r, unsigned first, struct dh_replayed *out, struct dh_err *err)
{
    struct dh_schedule s = dh_resolved_witness_schedule(&r->run.plot);
    struct dh_engine_decision *d = extended(r, first);
    s.decisions = d;
    s.n += 2;
    unsigned how = DH_REPLAY_CAPTURE | DH_REPLAY_GO_ON | DH_REPLAY_NO_RACES | for_real(r);
    bool ok = dh_replay(&r->run.subject.start, &s, how, DH_REPLAY_PATIENCE_NS, out, err);
    free(d);
    return ok;
}

static bool show_orders(struct replaying *r, struct dh_err *err)
{
    struct dh_replayed how[2] = {0};
    bool ok = run_order(r, 0, &how[0], err) && run_order(r, 1, &how[1], err);
    for (unsigned i = 0; ok && i < 2; i++)
        print_order(r, i, &how[i]);
    if (ok) {
        bool output = strcmp(how[0].output.at ? how[0].output.at : "", how[1].output.at ? how[1].output.at : "") != 0;
        bool status = how[0].status != how[1].status;
        printf("in the end %s\n", output && status ? "output and exit differ"
                                  : output         ? "the output differs"
                                  : status         ? "the exit differs"
                                                   : "output and exit are the same in both orders");
    }
    dh_replayed_release(&how[0]);
    dh_replayed_release(&how[1]);
    return ok;
}

/* ---- running ---- */

static bool run_times(struct replaying *r, unsigned *good, struct dh_err *err)
{
    struct dh_str why = {0};
    bool ok = true;
    *good = 0;
    for (unsigned i = 0; ok && i < r->times; i++) {
        bool same = false;
        dh_str_clear(&why);
        ok = dh_witness_run_once(&r->run, &same, &why, err);
        *good += same;
        if (ok && why.n && !dh_option_given(r->parsed, "quiet"))
            dh_notice("replay: %s", why.at);
    }
    dh_str_release(&why);
    return ok;
}

static void print_steps(struct replaying *r)
{
    struct dh_str steps = {0};
    struct dh_schedule s = dh_resolved_witness_schedule(&r->run.plot);
    dh_schedule_text(&steps, &r->run.subject, &s, r->run.plot.end, 120, dh_option_given(r->parsed, "whole"));
    printf("\n%s\n", steps.at);
    dh_str_release(&steps);
}

static int replay(struct replaying *r)
{
    struct dh_err err = {0};
    unsigned good;
    if (!run_times(r, &good, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if (dh_option_given(r->parsed, "quiet"))
        return good == r->times ? DH_EXIT_OK : DH_EXIT_FINDINGS;
    print_steps(r);
    printf("%s: happened in %u of %u run%s with kernel threads\n", r->run.witness.kind, good, r->times,
           r->times == 1 ? "" : "s");
    bool race = r->run.plot.end->kind == DH_ENGINE_RACE && r->run.plot.end->n_parties == 2;
    if (good == r->times && race && !show_orders(r, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    return good == r->times ? DH_EXIT_OK : DH_EXIT_FINDINGS;
}

/* ---- with a debugger ---- */

/* The engine's own signals pass; the debugger stops where the schedule ends, every thread where it is then. */
static int debug(struct replaying *r)
{
    char *run = r->run.witness.input[0] ? dh_format("run < '%s'", r->run.witness.input) : dh_strdup("run");
    const char *const words[] = {"gdb", "-q", "-ex", "handle SIGSYS nostop noprint pass", "-ex", run, "--args", NULL};
    struct dh_schedule s = dh_resolved_witness_schedule(&r->run.plot);
    struct dh_replayed how;
    struct dh_err err = {0};
    char *gdb = dh_program_find(words[0]);
    int code = DH_EXIT_OK;
    if (!gdb) {
        dh_notice("replay: --gdb: there is no gdb on PATH");
        free(run);
        return DH_EXIT_FAILURE;
    }
    r->run.subject.start.through = words;
    if (!dh_replay(&r->run.subject.start, &s, DH_REPLAY_TRAP | DH_REPLAY_GO_ON | DH_REPLAY_SHOW | for_real(r),
                   UINT64_MAX / 2, &how, &err))
        code = dh_fail(&err, DH_EXIT_FAILURE);
    dh_replayed_release(&how);
    free(gdb);
    free(run);
    return code;
}

/* ---- from the command line to a plot ---- */

static bool read_times(struct replaying *r)
{
    uint64_t n = 1;
    bool ok = dh_option_number(r->parsed, "times", 1, 1000000, &n);
    r->times = (unsigned)n;
    return ok;
}

/* The error with the command's name before it. */
static int refuse(struct dh_err *err, int code)
{
    dh_notice("replay: %s", err->text);
    dh_err_release(err);
    return code;
}

static bool read_witness(struct replaying *r, int *code)
{
    struct dh_err err = {0};
    bool ours;
    if (!dh_witness_run_read(&r->run, r->path, &ours, &err)) {
        *code = refuse(&err, err.is_usage ? DH_EXIT_USAGE : DH_EXIT_FAILURE);
        return false;
    }
    if (ours || dh_option_given(r->parsed, "trust"))
        return true;
    dh_notice("replay: %s was not made by you here; look at it, then run it with --trust", r->path);
    *code = DH_EXIT_USAGE;
    return false;
}

/* Arguments of the program are the witness's; the command line may repeat them. */
static bool are_arguments_same(const struct replaying *r, char **operands, int n)
{
    bool same = n <= 2 || (size_t)(n - 2) == r->run.witness.arguments.n;
    for (int i = 2; same && i < n; i++)
        same = strcmp(operands[i], r->run.witness.arguments.at[i - 2]) == 0;
    if (!same)
        dh_notice("replay: the witness has other arguments than these; leave them out, they come from the witness");
    return same;
}

static int replay_program(struct replaying *r, char *program)
{
    struct dh_err err = {0};
    const char *called = program ? program : r->run.witness.program;
    char *plan = dh_heal_plan(r->parsed, "replay", DH_ENGINE_PLAN, called);
    if (!plan)
        return DH_EXIT_USAGE;
    bool ok = dh_witness_run_open(&r->run, program, plan, dh_option_given(r->parsed, "heal"), &err);
    free(plan);
    if (!ok)
        return r->run.has_subject ? refuse(&err, DH_EXIT_USAGE) : dh_fail_as(&err);
    if (!dh_option_given(r->parsed, "quiet"))
        print_command(r);
    return dh_option_given(r->parsed, "gdb") ? debug(r) : replay(r);
}

static int replay_with(const struct dh_parsed *p)
{
    char **operands;
    int n = dh_operands(p, &operands), code = DH_EXIT_USAGE;
    struct replaying r = {.parsed = p};
    if (n < 1)
        dh_notice("replay: name a witness: deadheat replay FILE" DH_WITNESS_SUFFIX " [-- PROG]");
    else if (read_times(&r)) {
        r.path = operands[0];
        r.run.for_real = dh_option_given(p, "for-real");
        if (read_witness(&r, &code) && are_arguments_same(&r, operands, n))
            code = replay_program(&r, n > 1 ? operands[1] : NULL);
    }
    dh_witness_run_release(&r.run);
    return code;
}

static int run_replay(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_options(self, argc, argv, replay_with);
}

static const struct dh_option options[] = {
    {"times", DH_OPTION_STRING, "N", "1", "run it so often"},
    {"gdb", DH_OPTION_FLAG, NULL, NULL,
     "run it in gdb, which stops where the witness ends: all threads, stacks and variables as they are then"},
    {"for-real", DH_OPTION_FLAG, NULL, NULL,
     "let it change files, sockets and other processes; else it works on copies in memory, as when it was found"},
    {"trust", DH_OPTION_FLAG, NULL, NULL, "run a witness that was made elsewhere"},
    {"whole", DH_OPTION_FLAG, NULL, NULL, "show a long interleaving whole"},
    {"quiet", DH_OPTION_FLAG, NULL, NULL, "print nothing: the exit status says it"},
    DH_HEAL_OPTIONS,
    {0}};

const struct dh_command dh_command_replay = {
    .name = "replay",
    .usage = "[OPTION...] FILE.dhw [-- PROG]",
    .summary = "run a witness again and check that the same happens",
    .description = "Runs the program of a witness in a fresh process with real threads, one at a time, in the order "
                   "that the witness\n"
                   "says, and checks that it comes to the same end at the same places. Arguments, standard input and a "
                   "few variables\n"
                   "of the environment (never LD_*) are those of the witness; the command is printed before it runs. A "
                   "race is then\n"
                   "run to the program's end in both orders, with what each prints and how it ends. Under a policy "
                   "(--heal) a failing\n"
                   "run happens again if it fails at all.\n\n"
                   "The program must be of the build that the witness was made with, and its inputs the same. A "
                   "witness that somebody\n"
                   "else made is run only with --trust.\n\n"
                   "Exit status 0: the same happened every time; 1: it did not; 2: bad usage, or not for this program; "
                   "3: a witness of\n"
                   "another version.",
    .examples = "  deadheat replay .deadheat/witnesses/5e02c272e40f6f21.dhw\n  deadheat replay --times=100 race.dhw -- "
                "./bank\n",
    .options = options,
    .run = run_replay,
};
