#include "heal/noise_trial.h"

#include "base/str.h"
#include "heal/apply.h"
#include "launch/launch.h"
#include "prove/engine_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* They sleep most of the time: many go at once. */
enum { LEAST = 24, MOST = 240, AT_ONCE = 4, RUN_MS = 10000, FIRST_MS = 30000, LOOK_MS = 2 };

static const char noise[] = "loc:@findings,500,500us,sleep;sync,200,100us,sleep";

struct trial {
    const struct dh_heal_verifying *v;
    const char *db; /* its findings are where delays go */
};

/* In a child without streams: becomes the program. Seed 0: without noise. */
static void become(const struct trial *t, bool healed, unsigned seed)
{
    char *number = dh_format("%u", seed);
    struct dh_focus focus = {.noise = seed ? noise : NULL, .seed = seed ? number : NULL};
    struct dh_launch l = {
        .command = "heal", .detect = "none", .focus = &focus, .private_files = true, .argv = t->v->argv};
    struct dh_err ignored = {0};
    int nowhere = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    for (int fd = 0; fd < 3; fd++)
        dup2(nowhere, fd);
    if (dh_focus_prepare(&focus, l.command, l.detect, healed ? "none" : "race", t->db, &ignored))
        l.plan = healed ? dh_policy_apply(t->v->policy, false, focus.plan, l.argv[0], &ignored) : focus.plan;
    if (l.plan)
        dh_launch_become(&l, &ignored);
    _exit(127);
}

/* Its status as of waitpid; -1: it did not end, or not begin. */
static int end_of(pid_t pid, uint64_t until)
{
    int status = -1;
    pid_t ended = 0;
    while (pid > 0 && (ended = waitpid(pid, &status, WNOHANG)) == 0 && dh_now_ns() < until)
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000L}, NULL);
    if (ended == pid)
        return status;
    if (pid > 0) {
        kill(-pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    return -1;
}

static pid_t start(const struct trial *t, bool healed, unsigned seed)
{
    pid_t pid = fork();
    if (pid == 0)
        become(t, healed, seed);
    return pid;
}

static void run_some(const struct trial *t, int usual, struct dh_noise_trial *out)
{
    pid_t before[AT_ONCE], after[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        unsigned seed = ++out->runs;
        before[i] = start(t, false, seed);
        after[i] = start(t, true, seed);
    }
    uint64_t until = dh_now_ns() + RUN_MS * UINT64_C(1000000);
    for (int i = 0; i < AT_ONCE; i++) {
        out->before += end_of(before[i], until) != usual;
        out->after += end_of(after[i], until) != usual;
    }
}

/* The first run of each kind derives the program, which takes its time and says nothing of how it ends. */
static int run_first(const struct trial *t, bool healed, unsigned seed)
{
    return end_of(start(t, healed, seed), dh_now_ns() + FIRST_MS * UINT64_C(1000000));
}

/* As many as schedules may be searched, if that is bounded. */
static unsigned runs_most(const struct dh_heal_verifying *v)
{
    uint64_t n = v->schedules ? v->schedules : MOST;
    return n < LEAST ? LEAST : n < MOST ? (unsigned)n : MOST;
}

void dh_noise_trial_run(const struct dh_heal_verifying *v, const char *db, struct dh_noise_trial *out)
{
    struct trial t = {v, db};
    *out = (struct dh_noise_trial){0};
    int usual = run_first(&t, false, 0);
    run_first(&t, false, 1);
    run_first(&t, true, 1);
    uint64_t until = dh_now_ns() + v->budget_ns;
    unsigned most = runs_most(v);
    while (out->runs < most && (out->runs < LEAST || dh_now_ns() < until))
        run_some(&t, usual, out);
}

bool dh_noise_trial_holds(const struct dh_noise_trial *t)
{
    double chance = 1;
    for (unsigned i = 0; i < t->runs; i++)
        chance *= 1 - (double)t->before / t->runs;
    return !t->after && t->runs && chance < 0.01;
}
