/* deadheat replay: run a witness again, with kernel threads, and check that the same happens. */
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/launch.h"
#include "heal/use.h"
#include "host/file.h"
#include "host/process.h"
#include "prove/show.h"
#include "report/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 1000000000ull

struct replaying {
    const struct dh_parsed *parsed;
    const char *path;
    struct dh_witness witness;
    struct dh_subject subject;
    struct dh_plot plot;
    DH_VEC(char *) argv, environment;
    unsigned times;
    uint64_t patience_ns;
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
    for (size_t i = 0; i < r->witness.environment.n; i++)
        put_word(r->witness.environment.at[i]);
    for (size_t i = 0; r->argv.at[i]; i++)
        put_word(r->argv.at[i]);
    if (r->witness.input[0]) {
        printf(" <");
        put_word(r->witness.input);
    }
    printf("\n");
    fflush(stdout);
}

/* ---- both orders of a race ---- */

/* The schedule with the two accesses behind it, `first` of them first. */
static struct dh_engine_decision *extended(const struct replaying *r, unsigned first)
{
    const struct dh_schedule s = dh_plot_schedule(&r->plot);
    struct dh_engine_decision *d = calloc(s.n + 2, sizeof *d);
    if (!d)
        abort();
    memcpy(d, s.decisions, s.n * sizeof *d);
    for (unsigned i = 0; i < 2; i++) {
        const struct dh_engine_party *p = &r->plot.end->parties[i == 0 ? first : 1 - first];
        d[s.n + i] = (struct dh_engine_decision){
            .thread = p->thread, .place = p->place, .occurrence = p->occurrence, .kind = p->kind};
    }
    return d;
}

static void print_order(const struct replaying *r, unsigned first, const struct dh_replayed *how)
{
    const struct dh_engine_party *p = &r->plot.end->parties[first];
    const struct dh_site_table *t;
    const struct dh_site *site = dh_place_names_site(r->subject.places, p->place, &t);
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

static bool run_order(struct replaying *r, unsigned first, struct dh_replayed *out, struct dh_err *err)
{
    struct dh_schedule s = dh_plot_schedule(&r->plot);
    struct dh_engine_decision *d = extended(r, first);
    s.decisions = d;
    s.n += 2;
    bool ok = dh_replay(&r->subject.start, &s, DH_REPLAY_CAPTURE | DH_REPLAY_GO_ON | DH_REPLAY_NO_RACES, r->patience_ns,
                        out, err);
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

/* A witness does not say where things were; the run that it leads does. */
static bool is_same(const struct dh_engine_party *a, const struct dh_engine_party *b)
{
    return a->thread == b->thread && a->place == b->place && a->kind == b->kind;
}

static void learn(struct replaying *r, const struct dh_engine_found *end)
{
    for (uint32_t i = 0; i < end->n_decisions && i < r->plot.decisions.n; i++)
        r->plot.decisions.at[i].object = end->decisions[i].object;
    free(r->plot.values);
    r->plot.values = dh_values_of(end, (uint32_t)r->plot.decisions.n);
    for (uint32_t i = 0; i < r->plot.end->n_parties; i++)
        for (uint32_t k = 0; k < end->n_parties && k < DH_ENGINE_PARTIES; k++)
            if (is_same(&r->plot.end->parties[i], &end->parties[k]))
                r->plot.end->parties[i] = end->parties[k];
}

/* Wrong is any end that the witness is silent about: its exit status tells. */
static bool is_failure(const struct dh_engine_found *end)
{
    return end->kind == DH_ENGINE_ASSERTION || end->kind == DH_ENGINE_CRASH || end->kind == DH_ENGINE_FREED ||
           (end->kind == DH_ENGINE_WRONG && end->outcome.status != 0);
}

/* Under a policy, a run that was to fail and fails at another place is no better. */
static bool fails_elsewhere(const struct replaying *r, const struct dh_replayed *how)
{
    bool fails = false;
    for (size_t i = 0; i < how->ends.n; i++)
        fails |= is_failure(how->ends.at[i]);
    return fails && dh_option_given(r->parsed, "heal") && is_failure(r->plot.end);
}

static bool run_once(struct replaying *r, bool *same, struct dh_str *why, struct dh_err *err)
{
    struct dh_schedule s = dh_plot_schedule(&r->plot);
    struct dh_replayed how;
    /* What a policy adds is no step of the witness: the others are taken in their order as far as that can be. Races on
     * the way to what stale values lead to would take the room that its end needs. */
    unsigned flags = (dh_option_given(r->parsed, "heal") ? DH_REPLAY_LOOSE : 0) |
                     (r->plot.end->kind != DH_ENGINE_RACE && (r->plot.model[0] || r->plot.end->kind == DH_ENGINE_WRONG)
                          ? DH_REPLAY_NO_RACES
                          : 0);
    if (!dh_replay(&r->subject.start, &s, flags, r->patience_ns, &how, err))
        return false;
    const struct dh_engine_found *end = dh_replayed_find(&how, r->plot.end);
    dh_subject_learn(&r->subject, how.progress);
    *same = end || fails_elsewhere(r, &how);
    if (end)
        learn(r, end);
    else
        dh_replayed_words(why, &how);
    dh_replayed_release(&how);
    return true;
}

static bool run_times(struct replaying *r, unsigned *good, struct dh_err *err)
{
    struct dh_str why = {0};
    bool ok = true;
    *good = 0;
    for (unsigned i = 0; ok && i < r->times; i++) {
        bool same = false;
        dh_str_clear(&why);
        ok = run_once(r, &same, &why, err);
        *good += same;
        if (ok && why.n && !dh_option_given(r->parsed, "quiet"))
            dh_complain("replay: %s", why.at);
    }
    dh_str_release(&why);
    return ok;
}

static void print_steps(struct replaying *r)
{
    struct dh_str steps = {0};
    struct dh_schedule s = dh_plot_schedule(&r->plot);
    dh_show(&steps, &r->subject, &s, r->plot.end, 120, dh_option_given(r->parsed, "whole"));
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
    printf("%s: happened in %u of %u run%s with kernel threads\n", r->witness.kind, good, r->times,
           r->times == 1 ? "" : "s");
    bool race = r->plot.end->kind == DH_ENGINE_RACE && r->plot.end->n_parties == 2;
    if (good == r->times && race && !show_orders(r, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    return good == r->times ? DH_EXIT_OK : DH_EXIT_FINDINGS;
}

/* ---- with a debugger ---- */

/* The engine's own signals pass; the debugger stops where the schedule ends, every thread where it is then. */
static int debug(struct replaying *r)
{
    char *run = r->witness.input[0] ? dh_format("run < '%s'", r->witness.input) : dh_strdup("run");
    const char *const words[] = {"gdb", "-q", "-ex", "handle SIGSYS nostop noprint pass", "-ex", run, "--args", NULL};
    struct dh_schedule s = dh_plot_schedule(&r->plot);
    struct dh_replayed how;
    struct dh_err err = {0};
    char *gdb = dh_program_find(words[0]);
    int code = DH_EXIT_OK;
    if (!gdb) {
        dh_complain("replay: --gdb: there is no gdb on PATH");
        free(run);
        return DH_EXIT_FAILURE;
    }
    r->subject.start.through = words;
    if (!dh_replay(&r->subject.start, &s, DH_REPLAY_TRAP | DH_REPLAY_GO_ON | DH_REPLAY_SHOW, UINT64_MAX / 2, &how,
                   &err))
        code = dh_fail(&err, DH_EXIT_FAILURE);
    dh_replayed_release(&how);
    free(gdb);
    free(run);
    return code;
}

/* ---- from the command line to a plot ---- */

static bool read_times(struct replaying *r)
{
    const char *text = dh_option_get(r->parsed, "times");
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && !*end && n >= 1 && n <= 1000000) {
        r->times = (unsigned)n;
        return true;
    }
    dh_complain("replay: --times=%s: expected a number from 1 to 1000000", text);
    return false;
}

static bool read_witness(struct replaying *r, int *code)
{
    struct dh_err err = {0};
    bool ours, strange;
    if (!dh_witness_read(&r->witness, r->path, &ours, &strange, &err)) {
        char *text = dh_format("replay: %s", err.text);
        dh_complain("%s", text);
        free(text);
        dh_err_release(&err);
        *code = strange ? DH_EXIT_FAILURE : DH_EXIT_USAGE;
        return false;
    }
    if (ours || dh_option_given(r->parsed, "trust"))
        return true;
    dh_complain("replay: %s was not made by you here; look at it, then run it with --trust", r->path);
    *code = DH_EXIT_USAGE;
    return false;
}

/* The program as the command line names it, or as the witness does; what it is given is the witness's. */
static bool take_words(struct replaying *r, char **operands, int n)
{
    dh_vec_push(&r->argv, n > 1 ? operands[1] : r->witness.program);
    for (size_t i = 0; i < r->witness.arguments.n; i++)
        dh_vec_push(&r->argv, r->witness.arguments.at[i]);
    bool same = n <= 2 || (size_t)(n - 2) == r->witness.arguments.n;
    for (int i = 2; same && i < n; i++)
        same = strcmp(operands[i], r->witness.arguments.at[i - 2]) == 0;
    dh_vec_push(&r->argv, NULL);
    for (size_t i = 0; i < r->witness.environment.n; i++)
        dh_vec_push(&r->environment, r->witness.environment.at[i]);
    dh_vec_push(&r->environment, NULL);
    if (!same)
        dh_complain("replay: the witness has other arguments than these; leave them out, they come from the witness");
    return same;
}

static int replay_program(struct replaying *r)
{
    struct dh_launch l = {.command = "replay", .plan = "engine", .detect = "none", .argv = r->argv.at};
    struct dh_err err = {0};
    int code = DH_EXIT_USAGE;
    char *plan = dh_heal_plan(r->parsed, l.command, l.plan, r->argv.at[0]), *program, *variant;
    l.plan = plan;
    variant = plan ? dh_launch_variant(&l, &program, &code) : NULL;
    free(plan);
    if (!variant)
        return code;
    const char *input = r->witness.input[0] ? r->witness.input : NULL;
    if (!dh_subject_open(&r->subject, program, variant, r->argv.at, input, &err) ||
        !dh_subject_plot(&r->subject, &r->witness, &r->plot, &err)) {
        char *text = dh_format("replay: %s", err.text);
        dh_complain("%s", text);
        free(text);
        dh_err_release(&err);
        code = DH_EXIT_USAGE;
    } else {
        r->subject.start.environment = r->environment.at;
        if (!dh_option_given(r->parsed, "quiet"))
            print_command(r);
        code = dh_option_given(r->parsed, "gdb") ? debug(r) : replay(r);
    }
    dh_plot_release(&r->plot);
    dh_subject_release(&r->subject);
    free(variant);
    free(program);
    return code;
}

static int replay_with(const struct dh_parsed *p)
{
    char **operands;
    int n = dh_operands(p, &operands), code = DH_EXIT_USAGE;
    struct replaying r = {.parsed = p, .patience_ns = 60 * SECONDS};
    dh_witness_init(&r.witness);
    if (n < 1)
        dh_complain("replay: name a witness: deadheat replay FILE" DH_WITNESS_SUFFIX " [-- PROG]");
    else if (read_times(&r)) {
        r.path = operands[0];
        dh_witness_release(&r.witness);
        if (read_witness(&r, &code) && take_words(&r, operands, n))
            code = replay_program(&r);
    }
    dh_vec_release(&r.argv);
    dh_vec_release(&r.environment);
    dh_witness_release(&r.witness);
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
