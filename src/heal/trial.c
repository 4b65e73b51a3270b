#include "heal/trial.h"

#include "cmd/prove_goals.h"
#include "host/process.h"
#include "host/resources.h"
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

static void become(const struct dh_argv *a)
{
    int nowhere = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    for (int fd = 0; fd < 3; fd++)
        dup2(nowhere, fd);
    execv(a->at[0], a->at);
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

/* Nobody hears of it. Seed 0: without noise. */
static pid_t start(const struct dh_heal_verifying *v, const char *self, const char *db, bool healed, unsigned seed)
{
    struct dh_argv a = {0};
    dh_argv_add(&a, self);
    dh_argv_add(&a, "run");
    dh_argv_add(&a, "--detect=none");
    dh_argv_addf(&a, "--db=%s", db);
    if (seed)
        dh_argv_addf(&a, "--noise=%s", noise);
    if (seed)
        dh_argv_addf(&a, "--seed=%u", seed);
    if (healed)
        dh_argv_addf(&a, "--heal=%s", v->policy);
    dh_argv_add(&a, "--");
    for (char **word = v->argv; *word; word++)
        dh_argv_add(&a, *word);
    pid_t pid = fork();
    if (pid == 0)
        become(&a);
    dh_argv_release(&a);
    return pid;
}

static void run_some(const struct dh_heal_verifying *v, const char *self, const char *db, int usual,
                     struct dh_heal_trial *out)
{
    pid_t before[AT_ONCE], after[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        unsigned seed = ++out->runs;
        before[i] = start(v, self, db, false, seed);
        after[i] = start(v, self, db, true, seed);
    }
    uint64_t until = dh_now_ns() + RUN_MS * UINT64_C(1000000);
    for (int i = 0; i < AT_ONCE; i++) {
        out->before += end_of(before[i], until) != usual;
        out->after += end_of(after[i], until) != usual;
    }
}

/* The first run of each kind derives the program, which takes its time and says nothing of how it ends. */
static int run_first(const struct dh_heal_verifying *v, const char *self, const char *db, bool healed, unsigned seed)
{
    return end_of(start(v, self, db, healed, seed), dh_now_ns() + FIRST_MS * UINT64_C(1000000));
}

bool dh_heal_try_runs(const struct dh_heal_verifying *v, const char *db, struct dh_heal_trial *out, struct dh_err *err)
{
    char *self = dh_resource_self(err);
    *out = (struct dh_heal_trial){0};
    if (!self)
        return false;
    uint64_t budget = 0;
    dh_read_time(v->budget, &budget);
    int usual = run_first(v, self, db, false, 0);
    run_first(v, self, db, false, 1);
    run_first(v, self, db, true, 1);
    uint64_t until = dh_now_ns() + budget;
    while (out->runs < MOST && (out->runs < LEAST || dh_now_ns() < until))
        run_some(v, self, db, usual, out);
    free(self);
    return true;
}

bool dh_heal_trial_holds(const struct dh_heal_trial *t)
{
    double chance = 1;
    for (unsigned i = 0; i < t->runs; i++)
        chance *= 1 - (double)t->before / t->runs;
    return !t->after && t->runs && chance < 0.01;
}
