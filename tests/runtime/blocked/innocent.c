/* Programs in which, for a while, it looks as if nobody could go on, and in the end everybody does: NAME as argument.
 * Nothing may be said of them. Each ends with "ok". A pause is several looks of the watcher long. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t items;
static int ready;
static int ends[2];

static void pause_for_long(void)
{
    usleep(450000);
}

static pthread_t start(void *(*role)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, role, arg))
        exit(2);
    return t;
}

static void set_ready(void)
{
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await_ready(void)
{
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *waiter(void *arg)
{
    await_ready();
    return arg;
}

static void in_the_end(pthread_t t)
{
    set_ready();
    pthread_join(t, NULL);
}

static pid_t child_that(void (*what)(void *), void *arg)
{
    pid_t p = fork();
    if (p == 0) {
        what(arg);
        _exit(0);
    }
    return p;
}

static struct timespec soon(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 450000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* ---- somebody sleeps ---- */

static void *sleeps_then_signals(void *arg)
{
    pause_for_long();
    set_ready();
    return arg;
}

static void producer_sleeps(void)
{
    pthread_t t = start(sleeps_then_signals, NULL);
    await_ready();
    pthread_join(t, NULL);
}

static void *sleeps_with_lock(void *arg)
{
    pthread_mutex_lock(&second);
    sem_post(&items);
    pause_for_long();
    pthread_mutex_unlock(&second);
    return arg;
}

static void *wants_second(void *arg)
{
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    return arg;
}

static void owner_sleeps(void)
{
    sem_init(&items, 0, 0);
    pthread_t a = start(sleeps_with_lock, NULL);
    sem_wait(&items);
    pthread_t b = start(wants_second, NULL), c = start(wants_second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
}

/* ---- the wait ends by itself ---- */

static void *timed_condition(void *arg)
{
    struct timespec until = soon();
    pthread_mutex_lock(&second);
    while (pthread_cond_timedwait(&changed, &second, &until) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&second);
    set_ready();
    return arg;
}

static void timed_wait(void)
{
    pthread_t t = start(timed_condition, NULL);
    await_ready();
    pthread_join(t, NULL);
}

static void *timed_semaphore(void *arg)
{
    struct timespec until = soon();
    while (sem_timedwait(&items, &until) == 0 || errno != ETIMEDOUT)
        ;
    set_ready();
    return arg;
}

static void timed_sem(void)
{
    sem_init(&items, 0, 0);
    pthread_t t = start(timed_semaphore, NULL);
    await_ready();
    pthread_join(t, NULL);
}

static void *timed_mutex(void *arg)
{
    struct timespec until = soon();
    if (pthread_mutex_timedlock(&second, &until) != ETIMEDOUT)
        exit(3);
    set_ready();
    return arg;
}

static void timed_lock(void)
{
    pthread_mutex_lock(&second);
    pthread_t t = start(timed_mutex, NULL);
    await_ready();
    pthread_mutex_unlock(&second);
    pthread_join(t, NULL);
}

static void timed_join(void)
{
    struct timespec until = soon();
    pthread_t t = start(waiter, NULL);
    if (pthread_timedjoin_np(t, NULL, &until) != ETIMEDOUT)
        exit(3);
    in_the_end(t);
}

/* ---- another process ---- */

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_barrier_t meeting;
    pthread_rwlock_t table;
    sem_t items;
    int ready;
};

static struct shared *share(void)
{
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t m;
    pthread_condattr_t c;
    pthread_barrierattr_t b;
    pthread_rwlockattr_t r;
    pthread_mutexattr_init(&m);
    pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&s->lock, &m);
    pthread_condattr_init(&c);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&s->changed, &c);
    pthread_barrierattr_init(&b);
    pthread_barrierattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&s->meeting, &b, 2);
    pthread_rwlockattr_init(&r);
    pthread_rwlockattr_setpshared(&r, PTHREAD_PROCESS_SHARED);
    pthread_rwlock_init(&s->table, &r);
    sem_init(&s->items, 1, 0);
    return s;
}

static void child_does_everything(void *arg)
{
    struct shared *s = arg;
    pause_for_long();
    sem_post(&s->items);
    pause_for_long();
    pthread_mutex_lock(&s->lock);
    s->ready = 1;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pause_for_long();
    pthread_rwlock_wrlock(&s->table);
    pthread_barrier_wait(&s->meeting);
    pause_for_long();
    pthread_rwlock_unlock(&s->table);
}

static void other_process(void)
{
    struct shared *s = share();
    pthread_t t = start(waiter, NULL);
    pid_t p = child_that(child_does_everything, s);
    sem_wait(&s->items);
    pthread_mutex_lock(&s->lock);
    while (!s->ready)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    pthread_barrier_wait(&s->meeting);
    pthread_rwlock_rdlock(&s->table);
    pthread_rwlock_unlock(&s->table);
    waitpid(p, NULL, 0);
    in_the_end(t);
}

static void posts_named(void *name)
{
    sem_t *s = sem_open(name, 0);
    pause_for_long();
    sem_post(s);
}

static void named_semaphore(void)
{
    char name[64];
    snprintf(name, sizeof name, "/deadheat-blocked-%d", (int)getpid());
    sem_t *s = sem_open(name, O_CREAT, 0600, 0);
    pid_t p = child_that(posts_named, name);
    sem_wait(s);
    sem_unlink(name);
    waitpid(p, NULL, 0);
}

static void sleeps(void *arg)
{
    (void)arg;
    pause_for_long();
}

static void waits_for_child(void)
{
    pthread_t t = start(waiter, NULL);
    waitpid(child_that(sleeps, NULL), NULL, 0);
    in_the_end(t);
}

static void holds_file(void *name)
{
    int fd = open(name, O_RDWR);
    flock(fd, LOCK_EX);
    pause_for_long();
}

static void file_lock(void)
{
    char name[] = "/tmp/deadheat-blocked-XXXXXX";
    int fd = mkstemp(name);
    pthread_t t = start(waiter, NULL);
    pid_t p = child_that(holds_file, name);
    usleep(100000);
    flock(fd, LOCK_EX);
    unlink(name);
    waitpid(p, NULL, 0);
    in_the_end(t);
}

/* ---- signals ---- */

static void kills_parent(void *arg)
{
    pause_for_long();
    kill(getppid(), (int)(long)arg);
}

static void *waits_for_signal(void *arg)
{
    int got;
    sigwait(arg, &got);
    set_ready();
    return NULL;
}

static void sigwait_thread(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t t = start(waits_for_signal, &set);
    pid_t p = child_that(kills_parent, (void *)(long)SIGUSR1);
    await_ready();
    pthread_join(t, NULL);
    waitpid(p, NULL, 0);
}

static void post_item(int signal)
{
    (void)signal;
    sem_post(&items);
}

static void handler_posts(void)
{
    struct itimerval in = {.it_value = {.tv_usec = 450000}};
    sem_init(&items, 0, 0);
    signal(SIGALRM, post_item);
    setitimer(ITIMER_REAL, &in, NULL);
    while (sem_wait(&items) != 0)
        ;
}

static void handler_from_outside(void)
{
    sem_init(&items, 0, 0);
    signal(SIGTERM, post_item);
    pthread_t t = start(waiter, NULL);
    pid_t p = child_that(kills_parent, (void *)(long)SIGTERM);
    while (sem_wait(&items) != 0)
        ;
    waitpid(p, NULL, 0);
    in_the_end(t);
}

/* The handler of a thread that waits for a lock sleeps, and then ends the wait of another one. */
static pthread_barrier_t appointment;

static void sleep_and_meet(int signal)
{
    (void)signal;
    pause_for_long();
    pthread_barrier_wait(&appointment);
}

static void *keeps_appointment(void *arg)
{
    pthread_barrier_wait(&appointment);
    return arg;
}

static void *wants_second(void *arg);

static void handler_helps(void)
{
    pthread_barrier_init(&appointment, NULL, 2);
    signal(SIGUSR1, sleep_and_meet);
    pthread_mutex_lock(&second);
    pthread_t a = start(wants_second, NULL), b = start(keeps_appointment, NULL);
    usleep(300000);
    pthread_kill(a, SIGUSR1);
    pthread_join(b, NULL);
    pthread_mutex_unlock(&second);
    pthread_join(a, NULL);
}

static volatile sig_atomic_t told;
static void note_told(int signal)
{
    (void)signal;
    told = 1;
}

static void main_pauses(void)
{
    sigset_t set, old;
    signal(SIGUSR2, note_told);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_t t = start(waiter, NULL);
    pid_t p = child_that(kills_parent, (void *)(long)SIGUSR2);
    while (!told)
        sigsuspend(&old);
    waitpid(p, NULL, 0);
    in_the_end(t);
}

static void posts_by_timer(union sigval unused)
{
    (void)unused;
    sem_post(&items);
}

static void timer_thread(void)
{
    timer_t timer;
    struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = posts_by_timer};
    struct itimerspec in = {.it_value = {.tv_nsec = 450000000}};
    sem_init(&items, 0, 0);
    if (timer_create(CLOCK_MONOTONIC, &e, &timer) || timer_settime(timer, 0, &in, NULL))
        exit(2);
    sem_wait(&items);
    timer_delete(timer);
}

/* All of it is stopped for a while, whatever the threads are doing. */
static void stops_parent(void *arg)
{
    (void)arg;
    usleep(200000);
    kill(getppid(), SIGSTOP);
    pause_for_long();
    kill(getppid(), SIGCONT);
}

/* ---- descriptors ---- */

static void writes_later(void *arg)
{
    (void)arg;
    pause_for_long();
    if (write(ends[1], "x", 1) != 1)
        _exit(1);
}

static void *reads(void *arg)
{
    char c;
    if (read(ends[0], &c, 1) != 1)
        exit(3);
    set_ready();
    return arg;
}

static void *polls(void *arg)
{
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    poll(&p, 1, -1);
    return reads(arg);
}

static void *epolls(void *arg)
{
    struct epoll_event e = {.events = EPOLLIN};
    int fd = epoll_create1(0);
    epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &e);
    epoll_wait(fd, &e, 1, -1);
    close(fd);
    return reads(arg);
}

static void input_ends_wait(void *(*role)(void *))
{
    ready = 0;
    pthread_t t = start(role, NULL);
    pid_t p = child_that(writes_later, NULL);
    await_ready();
    pthread_join(t, NULL);
    waitpid(p, NULL, 0);
}

static void pipes(void)
{
    if (pipe(ends))
        exit(2);
    input_ends_wait(reads);
    input_ends_wait(polls);
    input_ends_wait(epolls);
}

static void sockets(void)
{
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        exit(2);
    input_ends_wait(reads);
}

/* ---- the ends of threads and of the process ---- */

static void *says_ok_later(void *arg)
{
    pause_for_long();
    printf("ok\n");
    return arg;
}

static void main_leaves(void)
{
    start(says_ok_later, NULL);
    pthread_exit(NULL);
}

static void idle_at_exit(void)
{
    for (int i = 0; i < 4; i++)
        start(waiter, NULL);
    pause_for_long();
}

static void *exits(void *arg)
{
    pause_for_long();
    printf("ok\n");
    exit(0);
    return arg;
}

static void other_exits(void)
{
    pthread_join(start(exits, NULL), NULL);
}

static void *waits_for_ever(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &lock);
    for (;;)
        pthread_cond_wait(&changed, &lock);
    pthread_cleanup_pop(1);
    return arg;
}

static void *cancels(void *arg)
{
    pause_for_long();
    pthread_cancel((pthread_t)arg);
    return NULL;
}

static void cancelled(void)
{
    pthread_t t = start(waits_for_ever, NULL), c = start(cancels, (void *)t);
    pthread_join(t, NULL);
    pthread_join(c, NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static pthread_mutex_t robust;

static void *dies_with_robust(void *arg)
{
    pthread_mutex_lock(&robust);
    sem_post(&items);
    pause_for_long();
    return arg;
}

static void owner_dies(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &a);
    sem_init(&items, 0, 0);
    pthread_t t = start(dies_with_robust, NULL);
    sem_wait(&items);
    if (pthread_mutex_lock(&robust) != EOWNERDEAD)
        exit(3);
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    pthread_join(t, NULL);
}

/* A mutex that is given by another thread than took it: not allowed, but it works. */
static void *gives_for_main(void *arg)
{
    pause_for_long();
    pthread_mutex_unlock(&second);
    return arg;
}

static void mutex_as_semaphore(void)
{
    pthread_mutex_lock(&second);
    pthread_t t = start(gives_for_main, NULL);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_join(t, NULL);
}

static void slow_routine(void)
{
    pause_for_long();
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *does_once(void *arg)
{
    pthread_once(&once, slow_routine);
    return arg;
}

static void slow_once(void)
{
    pthread_t a = start(does_once, NULL), b = start(does_once, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* ---- much goes on, and at every moment nearly everybody waits ---- */

enum { ROUNDS = 4000 };

static int turn;
static void *ping_pong(void *arg)
{
    long me = (long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        while (turn != me)
            pthread_cond_wait(&changed, &lock);
        turn = !me;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void hand_over(void)
{
    pthread_t a = start(ping_pong, (void *)0), b = start(ping_pong, (void *)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static void stopped(void)
{
    pid_t p = child_that(stops_parent, NULL);
    for (int i = 0; i < 20; i++)
        hand_over();
    waitpid(p, NULL, 0);
}

static pthread_barrier_t meeting;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static void *crowd_member(void *arg)
{
    for (int i = 0; i < 300; i++) {
        pthread_barrier_wait(&meeting);
        pthread_mutex_lock(&lock);
        pthread_mutex_lock(&second);
        pthread_mutex_unlock(&second);
        pthread_mutex_unlock(&lock);
        if (i % 8 == (long)arg)
            pthread_rwlock_wrlock(&table);
        else
            pthread_rwlock_rdlock(&table);
        pthread_rwlock_unlock(&table);
    }
    return NULL;
}

static void crowd(void)
{
    pthread_t t[8];
    pthread_barrier_init(&meeting, NULL, 8);
    for (long i = 0; i < 8; i++)
        t[i] = start(crowd_member, (void *)i);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
}

static void churn(void)
{
    for (int i = 0; i < 800; i++) {
        pthread_mutex_lock(&second);
        pthread_t t = start(wants_second, NULL);
        pthread_mutex_unlock(&second);
        pthread_join(t, NULL);
    }
}

static int in_c11(void *arg)
{
    (void)arg;
    pause_for_long();
    set_ready();
    return 0;
}

static void c11(void)
{
    thrd_t t;
    thrd_create(&t, in_c11, NULL);
    thrd_join(t, NULL);
    await_ready();
}

static void forks(void)
{
    pthread_t t = start(waiter, NULL);
    /* Held across the fork: taken by the waiter just then, it would stay locked in the child. */
    pthread_mutex_lock(&lock);
    pid_t p = fork();
    pthread_mutex_unlock(&lock);
    if (p == 0) {
        /* The waiter does not exist here, and the condition would remember it. */
        pthread_cond_init(&changed, NULL);
        producer_sleeps();
        crowd();
        _exit(0);
    }
    int status;
    waitpid(p, &status, 0);
    if (status)
        exit(3);
    in_the_end(t);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"producer_sleeps", producer_sleeps},
    {"owner_sleeps", owner_sleeps},
    {"timed_wait", timed_wait},
    {"timed_sem", timed_sem},
    {"timed_lock", timed_lock},
    {"timed_join", timed_join},
    {"other_process", other_process},
    {"named_semaphore", named_semaphore},
    {"waits_for_child", waits_for_child},
    {"file_lock", file_lock},
    {"sigwait_thread", sigwait_thread},
    {"handler_posts", handler_posts},
    {"handler_from_outside", handler_from_outside},
    {"handler_helps", handler_helps},
    {"main_pauses", main_pauses},
    {"timer_thread", timer_thread},
    {"pipes", pipes},
    {"sockets", sockets},
    {"main_leaves", main_leaves},
    {"idle_at_exit", idle_at_exit},
    {"other_exits", other_exits},
    {"cancelled", cancelled},
    {"owner_dies", owner_dies},
    {"mutex_as_semaphore", mutex_as_semaphore},
    {"slow_once", slow_once},
    {"hand_over", hand_over},
    {"stopped", stopped},
    {"crowd", crowd},
    {"churn", churn},
    {"c11", c11},
    {"forks", forks},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2)
            printf("%s\n", cases[i].name);
        else if (!strcmp(argv[1], cases[i].name)) {
            cases[i].run();
            printf("ok\n");
        }
    }
    return 0;
}
