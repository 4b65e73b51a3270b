/* Signals must do what POSIX and the kernel say, in every schedule and natively alike: a check that fails aborts.
 * before: ./signals && test $? = 0
 * drive: --schedules=400
 * expect: ends: done 400$ */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (!(x)) {                                                                                                    \
            fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #x, errno);                                           \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static atomic_int n, last, value, nested, on_stack;
static char stack[1 << 16];
static sigjmp_buf back;

static sigset_t set_of(int first, int second)
{
    sigset_t s;
    sigemptyset(&s);
    sigaddset(&s, first);
    if (second)
        sigaddset(&s, second);
    return s;
}

static void count(int signal)
{
    last = signal;
    n++;
}

static void with_info(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;
    CHECK(info->si_signo == signal && c);
    value = info->si_value.sival_int;
    n++;
}

static void install(int signal, void (*handler)(int), int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
    CHECK(sigaction(signal, &a, NULL) == 0);
}

static void block(int how, int first, int second)
{
    sigset_t s = set_of(first, second);
    CHECK(pthread_sigmask(how, &s, NULL) == 0);
}

/* ---- masks, pending ---- */

static void masks(void)
{
    sigset_t all, before, now, pending;
    sigfillset(&all);
    n = 0;
    install(SIGUSR1, count, 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    CHECK(sigismember(&now, SIGSEGV) && sigismember(&now, SIGSYS) && !sigismember(&now, SIGKILL));
    raise(SIGUSR1);
    raise(SIGUSR1);
    CHECK(n == 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGUSR2));
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    CHECK(n == 1 && last == SIGUSR1);
}

static void real_time(void)
{
    struct sigaction a = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO};
    int signal = SIGRTMAX - 1; /* 63 */
    n = 0;
    CHECK(sigaction(signal, &a, NULL) == 0);
    block(SIG_BLOCK, signal, 0);
    for (int i = 1; i <= 3; i++)
        CHECK(sigqueue(getpid(), signal, (union sigval){.sival_int = i}) == 0);
    sigset_t s = set_of(signal, 0);
    siginfo_t info;
    CHECK(sigwaitinfo(&s, &info) == signal && info.si_value.sival_int == 1 && info.si_code == SI_QUEUE);
    CHECK(info.si_pid == getpid());
    block(SIG_UNBLOCK, signal, 0);
    CHECK(n == 2 && value == 3);
}

/* ---- handlers ---- */

static void outer(int signal)
{
    (void)signal;
    CHECK(!nested);
    raise(SIGUSR2); /* blocked by sa_mask */
    CHECK(!nested);
}

static void inner(int signal)
{
    (void)signal;
    nested = 1;
}

static void jump(int signal)
{
    siglongjmp(back, signal);
}

static void look_at_stack(int signal)
{
    char here;
    (void)signal;
    on_stack = &here >= stack && &here < stack + sizeof stack;
}

static void handlers(void)
{
    struct sigaction a = {.sa_handler = outer}, old;
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, was;
    sigaddset(&a.sa_mask, SIGUSR2);
    nested = 0;
    install(SIGUSR2, inner, 0);
    sigaction(SIGUSR1, &a, NULL);
    raise(SIGUSR1);
    CHECK(nested == 1);
    CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == outer);
    install(SIGUSR1, count, SA_RESETHAND);
    raise(SIGUSR1);
    CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
    install(SIGUSR1, jump, 0);
    if (sigsetjmp(back, 1) == 0) {
        raise(SIGUSR1);
        CHECK(0);
    }
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(!sigismember(&now, SIGUSR1));
    CHECK(sigaltstack(&alternate, NULL) == 0 && sigaltstack(NULL, &was) == 0 && was.ss_size == sizeof stack);
    install(SIGUSR1, look_at_stack, SA_ONSTACK);
    raise(SIGUSR1);
    CHECK(on_stack);
    alternate.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&alternate, NULL) == 0);
    raise(SIGUSR1);
    CHECK(!on_stack);
}

static void ignored(void)
{
    install(SIGUSR1, SIG_IGN, 0);
    raise(SIGUSR1);
    kill(getpid(), SIGCHLD);
    kill(getpid(), SIGWINCH);
    CHECK(kill(getpid(), 0) == 0 && kill(getpid(), 1000) == -1 && errno == EINVAL);
    block(SIG_BLOCK, SIGCHLD, 0); /* kept while it is blocked, although its default is nothing */
    kill(getpid(), SIGCHLD);
    sigset_t s = set_of(SIGCHLD, 0);
    int which = 0;
    CHECK(sigwait(&s, &which) == 0 && which == SIGCHLD);
    block(SIG_UNBLOCK, SIGCHLD, 0);
}

static void faults(void)
{
    struct sigaction a = {.sa_handler = jump, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &a, NULL);
    if (sigsetjmp(back, 1) == 0) {
        *(volatile int *)16 = 1;
        CHECK(0);
    }
    install(SIGSEGV, SIG_DFL, 0);
    sigaction(SIGFPE, &a, NULL);
    volatile int zero = 0, ten = 10;
    if (sigsetjmp(back, 1) == 0) {
        volatile int never = ten / zero;
        CHECK(never && 0);
    }
    install(SIGFPE, SIG_DFL, 0);
}

/* ---- waits that a handler ends ---- */

static sem_t tokens;
static pthread_barrier_t together;
static pthread_t waiter;
static atomic_int done;
static int ends[2];

static void *waits(void *arg)
{
    struct timespec long_time = {100, 0}, left;
    sigset_t none, s = set_of(SIGUSR1, 0);
    char byte;
    sigemptyset(&none);
    (void)arg;
    block(SIG_BLOCK, SIGUSR1, 0);
    pthread_barrier_wait(&together);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR && n == 1);
    pthread_barrier_wait(&together);
    CHECK(ppoll(NULL, 0, NULL, &none) == -1 && errno == EINTR && n == 2);
    pthread_barrier_wait(&together);
    CHECK(pselect(0, NULL, NULL, NULL, NULL, &none) == -1 && errno == EINTR && n == 3);
    pthread_sigmask(SIG_BLOCK, NULL, &none);
    CHECK(sigismember(&none, SIGUSR1));
    pthread_barrier_wait(&together);
    siginfo_t info;
    int which;
    while ((which = sigtimedwait(&s, &info, &long_time)) == -1)
        CHECK(errno == EAGAIN);
    CHECK(which == SIGUSR1 && n == 3 && info.si_code == SI_USER);
    block(SIG_UNBLOCK, SIGUSR1, 0);
    pthread_barrier_wait(&together); /* from here on each until it is ended */
    while (sem_wait(&tokens) == 0)
        CHECK(0);
    CHECK(errno == EINTR);
    left = long_time;
    while (nanosleep(&left, &left) == 0)
        left = long_time;
    CHECK(errno == EINTR && left.tv_sec <= 100);
    while (read(ends[0], &byte, 1) != -1)
        CHECK(0);
    CHECK(errno == EINTR);
    done = 1;
    return NULL;
}

/* The other thread may be interrupted before it waits: again and again, until it is through. */
static void prod(void)
{
    while (!done) {
        pthread_kill(waiter, SIGUSR1);
        sched_yield();
    }
}

static void interrupted(void)
{
    n = 0;
    done = 0;
    install(SIGUSR1, count, 0);
    CHECK(pipe(ends) == 0);
    sem_init(&tokens, 0, 0);
    pthread_barrier_init(&together, NULL, 2);
    CHECK(pthread_create(&waiter, NULL, waits, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        pthread_barrier_wait(&together);
        pthread_kill(waiter, SIGUSR1);
    }
    pthread_barrier_wait(&together);
    prod();
    pthread_join(waiter, NULL);
    close(ends[0]);
    close(ends[1]);
}

/* ---- waits that it does not end ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state;

static void *waits_for_state(void *arg)
{
    char byte = 0;
    pthread_mutex_lock(&lock);
    while (!state)
        CHECK(pthread_cond_wait(&changed, &lock) == 0);
    pthread_mutex_unlock(&lock);
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x'); /* SA_RESTART */
    return arg;
}

static void not_interrupted(void)
{
    n = state = 0;
    install(SIGUSR1, count, SA_RESTART);
    CHECK(pipe(ends) == 0);
    pthread_mutex_lock(&lock);
    CHECK(pthread_create(&waiter, NULL, waits_for_state, NULL) == 0);
    pthread_kill(waiter, SIGUSR1);
    pthread_mutex_unlock(&lock);
    while (n < 1)
        sched_yield();
    pthread_kill(waiter, SIGUSR1);
    while (n < 2)
        sched_yield();
    pthread_mutex_lock(&lock);
    state = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_kill(waiter, SIGUSR1);
    while (n < 3)
        sched_yield();
    CHECK(write(ends[1], "x", 1) == 1);
    pthread_join(waiter, NULL);
    close(ends[0]);
    close(ends[1]);
}

/* ---- the process's ---- */

static void *inherits(void *arg)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(sigismember(&now, SIGHUP));
    return arg;
}

static void *reads_signals(void *arg)
{
    sigset_t s = set_of(SIGHUP, 0);
    struct signalfd_siginfo info;
    int fd = signalfd(-1, &s, SFD_CLOEXEC);
    CHECK(fd >= 0 && read(fd, &info, sizeof info) == sizeof info);
    CHECK(info.ssi_signo == SIGHUP && info.ssi_pid == (unsigned)getpid());
    close(fd);
    return arg;
}

static void process(void)
{
    pthread_t t;
    sigset_t s = set_of(SIGHUP, SIGTERM);
    int which;
    block(SIG_BLOCK, SIGHUP, SIGTERM);
    CHECK(pthread_create(&t, NULL, inherits, NULL) == 0 && pthread_join(t, NULL) == 0);
    kill(getpid(), SIGTERM);
    kill(getpid(), SIGHUP);
    CHECK(sigwait(&s, &which) == 0 && which == SIGHUP); /* the lowest first */
    CHECK(sigwait(&s, &which) == 0 && which == SIGTERM);
    struct timespec zero = {0, 0};
    CHECK(sigtimedwait(&s, NULL, &zero) == -1 && errno == EAGAIN);
    CHECK(pthread_create(&t, NULL, reads_signals, NULL) == 0);
    kill(getpid(), SIGHUP);
    CHECK(pthread_join(t, NULL) == 0);
    block(SIG_UNBLOCK, SIGHUP, SIGTERM);
}

/* ---- timers ---- */

static sem_t called;

static void call(union sigval v)
{
    CHECK(v.sival_int == 42);
    sem_post(&called);
}

static void timers(void)
{
    sigset_t s = set_of(SIGALRM, SIGRTMIN + 2), none;
    siginfo_t info;
    timer_t t;
    struct itimerspec once = {.it_value = {0, 3000000}}, left;
    struct itimerval soon = {.it_value = {0, 2000}}, is;
    sigemptyset(&none);
    block(SIG_BLOCK, SIGALRM, SIGRTMIN + 2);
    CHECK(alarm(1000) == 0 && alarm(0) > 990);
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK(sigwaitinfo(&s, &info) == SIGALRM);
    CHECK(getitimer(ITIMER_REAL, &is) == 0 && !is.it_value.tv_sec && !is.it_value.tv_usec);
    struct sigevent e = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2, .sigev_value = {.sival_int = 7}};
    CHECK(timer_create(CLOCK_MONOTONIC, &e, &t) == 0 && timer_settime(t, 0, &once, NULL) == 0);
    CHECK(sigwaitinfo(&s, &info) == SIGRTMIN + 2 && info.si_code == SI_TIMER && info.si_value.sival_int == 7);
    CHECK(timer_gettime(t, &left) == 0 && !left.it_value.tv_sec && timer_getoverrun(t) == 0 && timer_delete(t) == 0);
    e = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_value = {.sival_int = 42}};
    e.sigev_notify_function = call;
    sem_init(&called, 0, 0);
    CHECK(timer_create(CLOCK_REALTIME, &e, &t) == 0 && timer_settime(t, 0, &once, NULL) == 0);
    while (sem_wait(&called) != 0)
        ;
    CHECK(timer_delete(t) == 0);
    n = 0;
    install(SIGALRM, count, 0);
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK(sigsuspend(&none) == -1 && n == 1);
    block(SIG_UNBLOCK, SIGALRM, SIGRTMIN + 2);
}

static void *nothing(void *arg)
{
    return arg;
}

int main(void)
{
    pthread_t t;
    CHECK(pthread_create(&t, NULL, nothing, NULL) == 0 && pthread_join(t, NULL) == 0);
    masks();
    real_time();
    handlers();
    ignored();
    faults();
    interrupted();
    not_interrupted();
    process();
    timers();
    puts("signals: all as they should be");
    return 0;
}
