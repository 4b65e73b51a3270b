#include "prove/baseline.h"

#include "base/alloc.h"
#include "event/output_digest.h"
#include "host/process.h"
#include "prove/native_run.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NATIVE_RUNS = 3, /* if the first two differ */
    ENGINE_RUNS = 8, /* the same: the undisturbed one, then by chance, */
    ALL_VISIBLE = 6, /* from this one on with every access as a step */
    OUTPUT_KNOWN = 1 << 20,
    SLOWER = 2,
    LINES_COMPARED = 2000,
    LINE_SHOWN = 60
};
#define OVERTIME 300000000ull
#define SHORT_NS 100000000ull /* a run that is mostly the start of its process */
#define PATIENCE_LEAST 2000000000ull
#define PATIENCE_MOST 15000000000ull
#define FOUND (64ull << 20)

const char *const dh_hosting_names[DH_HOSTINGS] = {
    [DH_HOSTING_UNKNOWN] = "unknown", [DH_HOSTING_RIGHT] = "right",           [DH_HOSTING_DOUBTFUL] = "doubtful",
    [DH_HOSTING_WRONG] = "wrong",     [DH_HOSTING_NO_THREADS] = "no-threads",
};

uint64_t dh_hosting_patience(uint64_t budget_ns)
{
    uint64_t part = budget_ns / 5;
    return part < PATIENCE_LEAST ? PATIENCE_LEAST : part < PATIENCE_MOST ? part : PATIENCE_MOST;
}

/* ---- a run in the engine ---- */

struct engine_run {
    uint32_t state; /* enum dh_engine_state */
    bool in_time;
    int process;  /* status of the process, as of waitpid */
    unsigned end; /* enum dh_engine_end; DH_ENGINE_ENDS: the schedule did not end */
    int status;   /* exit status of the schedule */
    int signal;   /* that ended the process without a fault, or 0 */
    uint32_t threads, depth;
    bool goes_on;     /* for ever, as a server does: cut, or threads that only wait for times, again and again */
    bool irrevocable; /* it cannot because of a call that cannot be undone */
    uint64_t ns, accesses;
    char *text;  /* why it cannot, or of an assertion; owned */
    char *place; /* of the end: " at FILE:LINE in FUNCTION", or ""; owned */
    struct dh_str output, errors;
};

static struct dh_engine_job job_of(unsigned number, uint64_t patience_ns)
{
    struct dh_engine_job job = {.mode = DH_ENGINE_EXPLORE,
                                .seed = number,
                                .schedules_max = 1,
                                .time_max_ns = patience_ns,
                                .preemptions_max = number ? UINT32_MAX : 0,
                                .target_held = UINT32_MAX,
                                .flags = DH_ENGINE_NO_RACES | DH_ENGINE_NO_ORDER | DH_ENGINE_COLLECT | DH_ENGINE_OUTPUT,
                                .look_for = ~(1u << DH_ENGINE_RACE | 1u << DH_ENGINE_UNORDERED)};
    if (number == 0)
        job.flags |= DH_ENGINE_IN_TIME;
    if (number >= ALL_VISIBLE)
        job.flags |= DH_ENGINE_ALL_VISIBLE;
    strcpy(job.strategy, number ? "random" : "bounded");
    return job;
}

static uint32_t place_of(const struct dh_engine_found *f)
{
    if (f->n_parties)
        return f->parties[0].place;
    for (uint32_t i = f->n_decisions; i-- > 0;)
        if (f->decisions[i].place)
            return f->decisions[i].place;
    return 0;
}

static char *words_of_place(struct dh_subject *s, const struct dh_engine_found *f)
{
    uint32_t place = f ? place_of(f) : 0;
    char *name = dh_format(" at place %u", place), *words = place ? dh_subject_explain_places(s, name) : dh_strdup("");
    free(name);
    return words;
}

static void read_region(struct dh_subject *s, struct dh_engine_control *c, struct engine_run *out)
{
    const struct dh_engine_progress *p = &c->progress;
    const struct dh_engine_found *found = dh_engine_found_at(c, 0);
    char text[sizeof p->text];
    memcpy(text, p->text, sizeof text);
    text[sizeof text - 1] = 0;
    dh_subject_add_libraries(s, c->libraries, c->n_libraries);
    out->state = p->state;
    if (p->state == DH_ENGINE_SEQUENTIAL && out->in_time && WIFEXITED(out->process) &&
        !c->job.follow) { /* by _exit, as daemons do */
        dh_subject_learn_children(s, c);
        out->state = s->children.at.n ? DH_ENGINE_NO_THREADS : p->state;
    }
    out->irrevocable = p->state == DH_ENGINE_CANNOT && p->irrevocable;
    if (p->state == DH_ENGINE_NO_THREADS)
        dh_subject_learn_children(s, c);
    out->end = DH_ENGINE_ENDS;
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++)
        if (p->ends[i] && i != DH_ENGINE_RACE && i != DH_ENGINE_UNORDERED)
            out->end = i;
    out->goes_on = found && (found->kind == DH_ENGINE_CUT || (found->kind == DH_ENGINE_HANG && found->text[0]));
    out->status = c->n_outcomes ? c->outcomes[0].status & 0xff : 0;
    out->signal = c->n_outcomes && c->outcomes[0].status < 0 ? -c->outcomes[0].status : 0;
    out->threads = p->threads_most ? p->threads_most - 1 : 0;
    out->depth = p->depth_most;
    out->accesses = p->operations_most;
    out->text = dh_subject_explain_places(s, text);
    out->place = words_of_place(s, found);
}

static bool run_engine(struct dh_subject *s, unsigned number, uint64_t patience_ns, struct engine_run *out,
                       struct dh_err *err)
{
    struct dh_engine_request w = {.job = job_of(number, patience_ns), .found_bytes = FOUND};
    uint64_t began = dh_now_ns();
    *out = (struct engine_run){.end = DH_ENGINE_ENDS};
    w.output = memfd_create("output", MFD_CLOEXEC);
    w.errors = memfd_create("errors", MFD_CLOEXEC);
    struct dh_engine_process *c = dh_engine_process_start(&s->start, &w, err);
    if (c) {
        out->in_time = dh_engine_process_wait(c, patience_ns + OVERTIME);
        out->process = dh_engine_process_status(c);
        out->ns = dh_now_ns() - began;
        read_region(s, dh_engine_process_region(c), out);
        dh_output_read(w.output, &out->output);
        dh_output_read(w.errors, &out->errors);
    }
    close(w.output);
    close(w.errors);
    bool started = c;
    dh_engine_process_free(c);
    return started;
}

static void release_engine(struct engine_run *r)
{
    free(r->text);
    free(r->place);
    dh_str_release(&r->output);
    dh_str_release(&r->errors);
}

/* ---- output ---- */

enum sameness { SAME, SAME_BUT_NUMBERS, DIFFERENT };

static uint64_t digest_of(const struct dh_str *s, bool numbers_are_alike)
{
    struct dh_output_digest d = {0};
    dh_output_digest_add(&d, (const unsigned char *)s->at, s->n, numbers_are_alike);
    return dh_output_digest_sum(d);
}

static bool is_like(const struct dh_str *a, const struct dh_str *b, bool numbers_are_alike)
{
    return a->n >= OUTPUT_KNOWN || b->n >= OUTPUT_KNOWN ||
           digest_of(a, numbers_are_alike) == digest_of(b, numbers_are_alike);
}

static enum sameness compare_output(const struct dh_str *output, const struct dh_str *errors,
                                    const struct dh_native_run *n)
{
    if (!is_like(errors, &n->errors, true) || !is_like(output, &n->output, true))
        return DIFFERENT;
    return is_like(output, &n->output, false) ? SAME : SAME_BUT_NUMBERS;
}

static uint64_t digest_of_line(const char *line, size_t n)
{
    struct dh_output_digest d = {0};
    dh_output_digest_add(&d, (const unsigned char *)line, n, true);
    return dh_output_digest_sum(d);
}

/* Numbers count as equal. */
static bool has_line(const struct dh_str *s, const char *line, size_t n)
{
    const char *at = s->at, *end = s->at + s->n;
    uint64_t wanted = digest_of_line(line, n);
    for (unsigned i = 0; at < end && i < LINES_COMPARED; i++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((next ? next : end) - at);
        if (digest_of_line(at, length) == wanted)
            return true;
        at += length + 1;
    }
    return false;
}

/* The first line of one that the other does not have, quoted. */
static void add_first_other(struct dh_str *out, const struct dh_str *of, const struct dh_str *other)
{
    const char *at = of->at, *end = of->at + of->n;
    for (unsigned i = 0; at < end && i < LINES_COMPARED; i++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((next ? next : end) - at);
        if (!has_line(other, at, n)) {
            dh_str_addf(out, "\"%.*s%s\"", n < LINE_SHOWN ? (int)n : LINE_SHOWN, at, n > LINE_SHOWN ? ".." : "");
            return;
        }
        at += n + 1;
    }
    dh_str_add(out, "no such line");
}

static void add_difference(struct dh_str *out, const struct engine_run *e, const struct dh_native_run *n)
{
    bool on_output = !is_like(&e->output, &n->output, true) || is_like(&e->errors, &n->errors, true);
    const struct dh_str *here = on_output ? &e->output : &e->errors, *there = on_output ? &n->output : &n->errors;
    if (compare_output(&e->output, &e->errors, n) == SAME)
        return;
    dh_str_addf(out, "; on standard %s ", on_output ? "output" : "error");
    add_first_other(out, here, there);
    dh_str_add(out, ", natively ");
    add_first_other(out, there, here);
}

/* ---- do two runs come to the same? ---- */

static bool is_one_of(unsigned end, unsigned ends)
{
    return end < DH_ENGINE_ENDS && ends >> end & 1;
}

#define STUCK (1u << DH_ENGINE_DEADLOCK | 1u << DH_ENGINE_LOST_WAKE | 1u << DH_ENGINE_HANG)
#define KILLED (1u << DH_ENGINE_ASSERTION | 1u << DH_ENGINE_CRASH | 1u << DH_ENGINE_FREED)

static bool is_same_end(const struct engine_run *e, const struct dh_native_run *n)
{
    if (!n->in_time)
        return is_one_of(e->end, STUCK);
    if (WIFSIGNALED(n->status))
        return is_one_of(e->end, KILLED) || (e->end == DH_ENGINE_DONE && e->signal == WTERMSIG(n->status));
    return e->end == DH_ENGINE_DONE && !e->signal && e->status == WEXITSTATUS(n->status);
}

/* What the program printed before a failure says nothing. */
static enum sameness compare(const struct engine_run *e, const struct dh_native_run *n, bool output_counts)
{
    if (!is_same_end(e, n))
        return DIFFERENT;
    return !output_counts || e->end != DH_ENGINE_DONE ? SAME : compare_output(&e->output, &e->errors, n);
}

/* ---- the words ---- */

static void set_words(char *to, const char *text)
{
    snprintf(to, DH_HOSTING_WORDS, "%s", text);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

static bool conclude(struct dh_hosting_check *out, enum dh_hosting verdict, struct dh_str *why)
{
    out->verdict = verdict;
    set_words(out->why, why->at);
    dh_str_release(why);
    return true;
}

static void add_seconds(struct dh_str *s, uint64_t ns)
{
    dh_str_addf(s, "%.2g s", (double)ns / 1e9);
}

static void add_native_end(struct dh_str *s, const struct dh_native_run *n)
{
    if (!n->in_time) {
        dh_str_add(s, n->hangs ? "natively it hangs, seen for " : "natively it does not end within ");
        add_seconds(s, n->ns);
        if (n->where.n)
            dh_str_addf(s, ": %s", n->where.at);
        return;
    }
    char *status = dh_status_text(n->status);
    dh_str_addf(s, "natively it ends with %s", status);
    free(status);
}

static const char *const end_words[DH_ENGINE_ENDS] = {
    [DH_ENGINE_DONE] = "ends",
    [DH_ENGINE_RACE] = "has a race",
    [DH_ENGINE_DEADLOCK] = "comes to a deadlock",
    [DH_ENGINE_LOST_WAKE] = "comes to a deadlock",
    [DH_ENGINE_ASSERTION] = "is aborted",
    [DH_ENGINE_CRASH] = "crashes",
    [DH_ENGINE_FREED] = "uses freed memory",
    [DH_ENGINE_HANG] = "hangs",
    [DH_ENGINE_ATOMICITY] = "violates atomicity",
    [DH_ENGINE_UNORDERED] = "has a race",
    [DH_ENGINE_CUT] = "is cut",
    [DH_ENGINE_WRONG] = "ends wrongly",
};

static void add_engine_end(struct dh_str *s, const struct engine_run *e)
{
    dh_str_addf(s, "undisturbed in the engine it %s", end_words[e->end]);
    if (e->end == DH_ENGINE_DONE && e->signal)
        dh_str_addf(s, " with signal %d (%s)", e->signal, strsignal(e->signal));
    else if (e->end == DH_ENGINE_DONE)
        dh_str_addf(s, " with exit code %d", e->status);
    if (e->end == DH_ENGINE_CUT)
        dh_str_addf(s, " after %u steps", e->depth);
    dh_str_add(s, e->place);
}

/* ---- what keeps the engine from a schedule ---- */

/* It ran to its end, or its death, without a thread. */
static bool judge_without_threads(const struct dh_subject *s, const struct engine_run *e, const struct dh_native_run *n,
                                  struct dh_hosting_check *out)
{
    struct dh_str why = {0};
    if (n->threads) {
        char *status = dh_status_text(e->process);
        dh_str_addf(&why,
                    "cannot explore: it creates %u thread%s natively, and none in the engine, where it ends with %s",
                    n->threads, n->threads == 1 ? "" : "s", status);
        free(status);
        return conclude(out, DH_HOSTING_WRONG, &why);
    }
    if (n->others && !s->children.at.n) {
        dh_str_addf(&why, "cannot explore: it creates no thread itself; its children create %u, and are not followed",
                    n->others);
        return conclude(out, DH_HOSTING_WRONG, &why);
    }
    char *status = dh_status_text(e->process);
    dh_str_addf(&why, "it ended%s%s without having created a thread", e->process ? " with " : "",
                e->process ? status : "");
    free(status);
    return conclude(out, DH_HOSTING_NO_THREADS, &why);
}

/* The process is gone or was ended, and no schedule came to its end. */
static bool judge_no_schedule(const struct engine_run *e, const struct dh_native_run *n, struct dh_hosting_check *out)
{
    struct dh_str why = {0};
    bool early = e->state < DH_ENGINE_RUNNING, slow = !e->in_time || e->state >= DH_ENGINE_FINISHED;
    if (early && slow && !n->in_time)
        dh_str_addf(&why, "cannot explore: it creates no thread and does not end%s", ", natively either: ");
    else if (early && slow)
        dh_str_add(&why, "cannot explore: it creates no thread in the engine in time; ");
    else if (slow) {
        dh_str_add(&why, "its first schedule takes more than ");
        add_seconds(&why, e->ns);
        dh_str_add(&why, "; ");
    } else if (WIFSTOPPED(e->process)) {
        char *status = dh_status_text(e->process);
        dh_str_addf(&why, "cannot explore: it asks to be traced (ptrace), and came to %s; ", status);
        free(status);
    } else {
        char *status = dh_status_text(e->process);
        dh_str_addf(&why, "cannot explore: it ends with %s %s; ", status,
                    early ? "before its first thread" : "in its first schedule, and the engine with it");
        free(status);
    }
    add_native_end(&why, n);
    return conclude(out, slow && !early ? DH_HOSTING_DOUBTFUL : DH_HOSTING_WRONG, &why);
}

static bool has_schedule(const struct engine_run *e)
{
    return e->end < DH_ENGINE_ENDS && e->state >= DH_ENGINE_FINISHED && e->state != DH_ENGINE_CANNOT;
}

/* ---- the comparison ---- */

struct comparison {
    struct dh_subject *s;
    uint64_t patience_ns;
    struct dh_hosting_check *out;
    struct dh_err *err;
    struct dh_native_run native[NATIVE_RUNS];
    unsigned n_native;
    struct engine_run engine[ENGINE_RUNS];
    unsigned n_engine;
    bool varies; /* the output of native runs */
};

/* The runs of one kind that look for a run of the other. */
/* Of a child that is explored the native run shows no end of its own. */
static enum sameness best(const struct comparison *c)
{
    enum sameness found = DIFFERENT;
    for (unsigned i = 0; c->s->start.follow && i < c->n_engine; i++)
        if (c->engine[i].end == DH_ENGINE_DONE)
            return SAME;
    for (unsigned i = 0; i < c->n_engine; i++)
        for (unsigned k = 0; k < c->n_native; k++) {
            enum sameness same = compare(&c->engine[i], &c->native[k], !c->varies);
            found = same < found ? same : found;
        }
    return found;
}

/* Undisturbed, somebody waits for ever. */
static bool is_stuck(const struct engine_run *e)
{
    return e->end == DH_ENGINE_DEADLOCK || e->end == DH_ENGINE_LOST_WAKE || e->end == DH_ENGINE_HANG;
}

/* Of a program that is stuck in the engine, whose natural end would not be the same, little is waited for. */
static uint64_t native_patience(const struct comparison *c)
{
    uint64_t slow = SLOWER * c->engine[0].ns; /* than the engine no native run is, but for a busy machine */
    uint64_t usual = is_stuck(&c->engine[0]) ? PATIENCE_LEAST : c->patience_ns;
    return usual > slow ? usual : slow;
}

/* The second with other addresses: what is printed of them varies. */
static bool run_natively(struct comparison *c)
{
    struct dh_native_run *n = &c->native[c->n_native];
    if (!dh_native_run(c->s, native_patience(c), c->n_native % 2, n, c->err))
        return false;
    const struct dh_native_run *first = &c->native[0];
    c->varies |= compare_output(&n->output, &n->errors, first) != SAME;
    c->n_native++;
    return true;
}

/* Until both have come to the same once. */
static bool run_more(struct comparison *c)
{
    while (best(c) == DIFFERENT && c->n_native < NATIVE_RUNS && c->native[0].in_time)
        if (!run_natively(c))
            return false;
    while (best(c) == DIFFERENT && c->n_engine < ENGINE_RUNS && c->engine[c->n_engine - 1].ns < c->patience_ns / 4) {
        if (!run_engine(c->s, c->n_engine, c->patience_ns, &c->engine[c->n_engine], c->err))
            return false;
        c->n_engine++;
    }
    return true;
}

/* The same end and the same results; what is reported on the way, about memory that was used or what was met first, is
 * another one. */
static bool differs_on_errors_only(const struct comparison *c)
{
    const struct engine_run *e = &c->engine[0];
    const struct dh_native_run *n = &c->native[0];
    return is_same_end(e, n) && is_like(&e->output, &n->output, true);
}

/* A program that fails natively, or in the engine, may do so by its schedule: that is what a search looks for. */
static bool judge_difference(const struct comparison *c)
{
    const struct engine_run *e = &c->engine[0];
    const struct dh_native_run *n = &c->native[0];
    bool native_fails = !n->in_time || n->status != 0;
    bool wrong = e->end == DH_ENGINE_DONE && !native_fails && !differs_on_errors_only(c);
    struct dh_str why = {0};
    dh_str_add(&why, wrong ? "cannot explore: " : "");
    add_engine_end(&why, e);
    dh_str_add(&why, ", ");
    add_native_end(&why, n);
    if (e->end == DH_ENGINE_DONE && n->in_time && !c->varies)
        add_difference(&why, e, n);
    return conclude(c->out, wrong ? DH_HOSTING_WRONG : DH_HOSTING_DOUBTFUL, &why);
}

static bool judge_cannot(const struct engine_run *e, struct dh_hosting_check *out)
{
    struct dh_str why = {0};
    const char *text = e->state == DH_ENGINE_STARTING ? "the program ended before the engine was ready"
                       : e->text[0]                   ? e->text
                                                      : "no reason is known";
    dh_str_addf(&why, "%s%s", strncmp(text, "cannot ", 7) == 0 ? "" : "cannot explore: ", text);
    return conclude(out, DH_HOSTING_WRONG, &why);
}

static void take_figures(const struct comparison *c)
{
    const struct dh_native_run *n = &c->native[0];
    c->out->engine_ns = c->engine[0].ns;
    c->out->threads = c->engine[0].threads;
    c->out->accesses = c->engine[0].accesses;
    c->out->ran_natively = c->n_native;
    c->out->native_status = n->status;
    c->out->native_in_time = n->in_time;
    c->out->is_counted = n->is_counted;
    c->out->native_threads = n->threads;
    c->out->native_others = n->others;
    c->out->native_ns = n->ns;
}

static bool judge(struct comparison *c)
{
    const struct engine_run *e = &c->engine[0];
    if (e->state == DH_ENGINE_CANNOT || (e->state == DH_ENGINE_STARTING && e->in_time))
        return judge_cannot(e, c->out);
    if (!run_natively(c))
        return false;
    if (e->state == DH_ENGINE_NO_THREADS)
        return judge_without_threads(c->s, e, &c->native[0], c->out);
    if (!has_schedule(e))
        return judge_no_schedule(e, &c->native[0], c->out);
    if (!run_more(c))
        return false;
    enum sameness same = best(c);
    if (same == DIFFERENT || (e->goes_on && !c->native[0].in_time))
        return judge_difference(c);
    c->out->verdict = DH_HOSTING_RIGHT;
    if (c->s->start.follow)
        set_words(c->out->note, "of a child process only that it comes to its end was compared");
    else if (c->varies)
        set_words(c->out->note, "the output of native runs differs: only the exit status was compared");
    else if (same == SAME_BUT_NUMBERS)
        set_words(c->out->note, "the output differs from that of a native run in its numbers");
    return true;
}

bool dh_hosting_check(struct dh_subject *s, uint64_t patience_ns, struct dh_hosting_check *out, struct dh_err *err)
{
    struct comparison *c = dh_xcalloc(1, sizeof *c);
    *c = (struct comparison){.s = s, .patience_ns = patience_ns, .out = out, .err = err};
    *out = (struct dh_hosting_check){0};
    bool ok = run_engine(s, 0, patience_ns, &c->engine[0], err);
    if (ok && dh_subject_take_second_way(s, c->engine[0].irrevocable, c->engine[0].text)) {
        release_engine(&c->engine[0]);
        ok = run_engine(s, 0, patience_ns, &c->engine[0], err);
    }
    if (ok) {
        c->n_engine = 1;
        ok = judge(c);
        take_figures(c);
    }
    for (unsigned i = 0; i < ENGINE_RUNS; i++)
        release_engine(&c->engine[i]);
    for (unsigned i = 0; i < NATIVE_RUNS; i++)
        dh_native_run_release(&c->native[i]);
    free(c);
    return ok;
}

/* ---- JSON ---- */

static json_t *native_json(const struct dh_hosting_check *h)
{
    if (!h->ran_natively)
        return json_null();
    char *status = h->native_in_time ? dh_status_text(h->native_status) : dh_strdup("does not end");
    json_t *o = json_pack("{s:s, s:f}", "end", status, "seconds", (double)h->native_ns / 1e9);
    if (h->is_counted) {
        json_object_set_new(o, "threads", json_integer(h->native_threads));
        json_object_set_new(o, "threads_of_children", json_integer(h->native_others));
    }
    free(status);
    return o;
}

uint64_t dh_hosting_least_ns(const struct dh_hosting_check *h)
{
    enum { FEW = 6 }; /* the order of accesses is not checked in this run, and costs more than they do */
    return h->engine_ns > SHORT_NS ? FEW * h->engine_ns : 0;
}

char *dh_hosting_json(const struct dh_hosting_check *h)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:o, s:{s:I, s:f}}", "verdict", dh_hosting_names[h->verdict], "why", h->why,
                          "note", h->note, "native", native_json(h), "engine", "threads", (json_int_t)h->threads,
                          "seconds", (double)h->engine_ns / 1e9);
    char *text = json_dumps(o, JSON_COMPACT), *copy = dh_strdup(text ? text : "{}");
    free(text);
    json_decref(o);
    return copy;
}
