#include "check/stage.h"

#include "check/idle_program.h"
#include "host/notice.h"
#include "host/process.h"
#include "prove/engine_process.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull
#define LINE_EVERY (200 * MS)
#define STILL_EVERY (10000 * MS)
#define INTERRUPTED_GRACE (1000 * MS)
#define LAST_WORDS (600 * MS)
#define PROGRAM_GRACE (1500 * MS) /* from SIGTERM to SIGKILL, for the user's program */

/* ---- state that stage and command share ---- */

struct dh_stage_state *dh_stage_state_new(struct dh_err *err)
{
    return dh_shared_alloc(sizeof(struct dh_stage_state), err);
}

void dh_stage_state_free(struct dh_stage_state *t)
{
    dh_shared_free(t, sizeof *t);
}

struct dh_attempts *dh_stage_tried(struct dh_stage_state *t, const char *id)
{
    for (unsigned i = 0; i < t->n_tried; i++)
        if (strcmp(t->tried[i].id, id) == 0)
            return &t->tried[i];
    unsigned i = t->n_tried < DH_ATTEMPTS ? t->n_tried++ : DH_ATTEMPTS - 1;
    t->tried[i] = (struct dh_attempts){0};
    snprintf(t->tried[i].id, sizeof t->tried[i].id, "%s", id);
    return &t->tried[i];
}

/* Text of other sources, the program's included, must not control the terminal. */
static void set_words(char *to, const char *fmt, va_list ap)
{
    vsnprintf(to, DH_STAGE_WORDS, fmt, ap);
    for (char *c = to; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
}

void dh_stage_now(struct dh_stage_state *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set_words(t->now, fmt, ap);
    va_end(ap);
}

void dh_stage_say(struct dh_stage_state *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set_words(t->said, fmt, ap);
    va_end(ap);
}

void dh_stage_fail(struct dh_stage_state *t, struct dh_err *err)
{
    t->result = err->is_usage ? DH_STAGE_USAGE : DH_STAGE_FAILED;
    dh_notice_err(err);
}

/* ---- signals ---- */

static volatile sig_atomic_t asked_to_stop;
static struct sigaction old_int, old_term; /* what our children start with */

static void stop_soon(int signal)
{
    (void)signal;
    if (asked_to_stop++)
        _exit(130);
}

void dh_stage_watch_signals(void)
{
    struct sigaction a = {.sa_handler = stop_soon};
    sigaction(SIGINT, &a, &old_int);
    sigaction(SIGTERM, &a, &old_term);
}

bool dh_stage_interrupted(void)
{
    return asked_to_stop;
}

/* ---- progress ---- */

static void words_of(const struct dh_stage_state *t, char *out, size_t n)
{
    snprintf(out, n, "%s%s%s", t->now, t->now[0] && t->beside[0] ? "; " : "", t->beside);
}

static void show_progress(const struct dh_stage *s, const struct dh_stage_state *t)
{
    uint64_t now = dh_now_ns();
    char line[2 * DH_STAGE_WORDS + 4];
    words_of(t, line, sizeof line);
    s->progress(s->name, s->all_ends_ns > now ? s->all_ends_ns - now : 0,
                asked_to_stop ? "ending with what there is" : line);
}

/* ---- ending what does not end ---- */

/* Escalation against a stage that does not stop: SIGTERM to its program, SIGKILL to that, then to the stage. */
struct stopping {
    uint64_t since_ns;
    unsigned step;
};

static void escalate(const struct dh_stage *s, struct dh_stage_state *t, pid_t pid, struct stopping *p)
{
    uint64_t now = dh_now_ns();
    if (!p->since_ns) {
        p->since_ns = now;
        atomic_store(&t->stop, true);
    }
    uint64_t waited = now - p->since_ns;
    /* Ctrl-C reaches the program, too: it may end by itself. */
    if (p->step == 0 && s->runs_program && (!s->is_ours || !asked_to_stop || waited > INTERRUPTED_GRACE)) {
        kill(pid, SIGTERM); /* which it passes on */
        p->step = 1;
    }
    bool last = s->killed_ns && now + LAST_WORDS >= s->killed_ns; /* what it stores must be stored now */
    if (p->step <= 1 && s->runs_program && (last || waited > INTERRUPTED_GRACE + PROGRAM_GRACE)) {
        dh_kill_offspring(pid);
        p->step = 2;
    }
    if (p->step < 3 &&
        ((s->killed_ns && now >= s->killed_ns) || waited > s->grace_ns + (s->runs_program ? 2 * PROGRAM_GRACE : 0))) {
        dh_kill_offspring(pid);
        kill(pid, SIGKILL);
        p->step = 3;
    }
}

/* ---- the stage ---- */

static void be_child(const struct dh_stage *s, struct dh_stage_state *t, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    if (!s->is_ours)
        setpgid(0, 0); /* what is typed at the terminal is for us */
    if (s->killed_ns)
        dh_deadline_narrow(s->killed_ns);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    s->work(s->arg, t);
    fflush(NULL);
    dh_kill_offspring(getpid()); /* what the program started and left */
    _exit(0);
}

void dh_stage_beside(struct dh_stage_state *t, const char *line)
{
    snprintf(t->beside, sizeof t->beside, "%s", line ? line : "");
}

pid_t dh_stage_start_beside(const struct dh_stage *s, struct dh_stage_state *state)
{
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        be_child(s, state, parent);
    return pid > 0 ? pid : 0;
}

void dh_stage_end_beside(pid_t pid, struct dh_stage_state *state)
{
    int status;
    if (!pid)
        return;
    dh_wait_or_end(pid, 0, &status);
    state->beside[0] = 0;
}

static uint64_t spoke_ns; /* of this process */

uint64_t dh_stage_silent_ns(void)
{
    return spoke_ns ? dh_now_ns() - spoke_ns : 0;
}

void dh_stage_spoke(void)
{
    spoke_ns = dh_now_ns();
}

/* Without a terminal, a line now and then, whatever stages come and go meanwhile. */
static void say_still(const struct dh_stage *s, const struct dh_stage_state *t, uint64_t so_far_ns)
{
    char line[2 * DH_STAGE_WORDS + 4];
    words_of(t, line, sizeof line);
    if (s->still)
        s->still(s->name, so_far_ns, line[0] ? line : "at work");
    dh_stage_spoke();
}

static void watch(const struct dh_stage *s, struct dh_stage_state *t, pid_t pid, struct dh_stage_end *end)
{
    bool live = s->progress && !s->is_ours;
    uint64_t began = dh_now_ns(), next_line = began + LINE_EVERY;
    struct stopping stopping = {0};
    struct dh_idle_program idle = {0};
    long nap = 1000000;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        uint64_t now = dh_now_ns();
        bool was_late = end->late;
        end->late = end->late || now >= s->until_ns || dh_idle_program_look(&idle, s, t, pid, now - began);
        if (end->late && !was_late && s->idle_ns)
            dh_idle_program_where(t, pid);
        if (end->late || asked_to_stop)
            escalate(s, t, pid, &stopping);
        if (live && now >= next_line) {
            show_progress(s, t);
            next_line = now + LINE_EVERY;
        }
        if (!live && dh_stage_silent_ns() >= STILL_EVERY)
            say_still(s, t, now - began);
        nanosleep(&(struct timespec){0, nap}, NULL);
        nap = nap < 30000000 ? nap * 2 : nap;
    }
    if (live)
        s->progress(s->name, 0, NULL);
    end->failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

void dh_stage_run(const struct dh_stage *s, struct dh_stage_state *state, struct dh_stage_end *end)
{
    uint64_t began = dh_now_ns();
    *end = (struct dh_stage_end){0};
    atomic_store(&state->stop, false);
    state->now[0] = state->said[0] = state->waits[0] = 0;
    state->hangs = state->works = false;
    if (!spoke_ns)
        dh_stage_spoke();
    state->result = DH_STAGE_DONE;
    state->status = 0;
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        be_child(s, state, parent);
    if (pid > 0)
        watch(s, state, pid, end);
    else {
        dh_notice("check: no process for %s", s->name);
        end->failed = true;
    }
    end->took_ns = dh_now_ns() - began;
}
