/* Calls that may wait: the marks around them, and the rows of those that only wait. All are points of cancellation;
 * the cancellation happens before the cleanup handlers of the thread run. */
#include "runtime/core/threads.h"
#include "runtime/interpose/interpose.h"

static __thread bool waiting;

static void wake(void)
{
    if (waiting)
        dh_blocking_end();
    waiting = false;
}

static void sleep_now(void)
{
    waiting = true;
    dh_blocking_begin();
}

static void abandoned(void *memory)
{
    struct dh_wait *w = memory;
    wake();
    dh_watched_wait_end();
    dh_sync_acquire(__dh_thread.thread, DH_SYNC_THREAD);
    if (w->undo)
        w->undo(w->argument);
}

void dh_wait_begin(struct dh_wait *w, void (*undo)(void *), void *argument)
{
    w->undo = undo;
    w->argument = argument;
    _pthread_cleanup_push(&w->cleanup, abandoned, w);
    sleep_now();
    dh_watched_wait_begin();
}

void dh_wait_end(struct dh_wait *w)
{
    dh_watched_wait_end();
    wake();
    _pthread_cleanup_pop(&w->cleanup, 0);
}

bool dh_wait_interrupted(void)
{
    bool was = waiting;
    dh_watched_wait_interrupted();
    wake();
    return was;
}

void dh_wait_resumed(bool interrupted)
{
    if (!interrupted)
        return;
    sleep_now();
    dh_watched_wait_resumed();
}

#define WAITS(result, name, parameters, arguments)                                                                     \
    static result dh_interposed_##name parameters                                                                      \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        return DH_WAIT(dh_real.name arguments);                                                                        \
    }                                                                                                                  \
    DH_INTERPOSE(name);
#define SLEEPS(result, name, parameters, arguments)                                                                    \
    static result dh_interposed_##name parameters                                                                      \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, arguments);                                                                                 \
        return DH_WAIT(dh_real.name arguments);                                                                        \
    }                                                                                                                  \
    DH_INTERPOSE(name);

SLEEPS(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
SLEEPS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
       (clock, flags, time, left))
SLEEPS(int, usleep, (useconds_t time), (time))
SLEEPS(unsigned, sleep, (unsigned time), (time))
SLEEPS(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left))
WAITS(int, pause, (void), ())
WAITS(int, sigsuspend, (const sigset_t *mask), (mask))
WAITS(pid_t, wait, (int *status), (status))
WAITS(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
WAITS(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))
WAITS(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
WAITS(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))
SLEEPS(int, system, (const char *command), (command))
SLEEPS(FILE *, popen, (const char *command, const char *type), (command, type))
SLEEPS(int, pclose, (FILE * file), (file))

static void dh_interposed_pthread_testcancel(void)
{
    struct dh_wait w;
    dh_interpose_ready();
    DH_BY_ENGINE(pthread_testcancel, ());
    dh_wait_begin(&w, NULL, NULL);
    dh_real.pthread_testcancel();
    dh_wait_end(&w);
}
DH_INTERPOSE(pthread_testcancel);
