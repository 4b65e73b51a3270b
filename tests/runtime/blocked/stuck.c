/* Programs that hang, one for each way: NAME as argument. Each prints "begun" without a newline, so that what was not
 * flushed shows, and never comes to "over", but for partial_ends. What is in `expected` is what must be said. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t third = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t meeting;
static sem_t items;

static pthread_t start(void *(*role)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, role, arg))
        exit(2);
    return t;
}

/* Both have their first lock before either wants the second. */
static void *left_then_right(void *arg)
{
    pthread_mutex_lock(&left);
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&right);
    return arg;
}

static void *right_then_left(void *arg)
{
    pthread_mutex_lock(&right);
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&left);
    return arg;
}

static void opposite(void)
{
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_t a = start(left_then_right, NULL), b = start(right_then_left, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* Two of three are stuck while main does something else for ever. */
static void partial(void)
{
    pthread_barrier_init(&meeting, NULL, 2);
    start(left_then_right, NULL);
    start(right_then_left, NULL);
    for (;;)
        sleep(1);
}

/* Until something was written to standard error, which is a file. */
static void await_report(void)
{
    struct stat s;
    while (fstat(STDERR_FILENO, &s) == 0 && s.st_size == 0)
        usleep(10000);
}

/* The same, but main comes to its end and does not care: it is told, and the program's end is its own. */
static void partial_ends(void)
{
    pthread_barrier_init(&meeting, NULL, 2);
    start(left_then_right, NULL);
    start(right_then_left, NULL);
    await_report();
}

static pthread_mutex_t *const ring[3] = {&left, &right, &third};

static void *philosopher(void *arg)
{
    long i = (long)arg;
    pthread_mutex_lock(ring[i]);
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(ring[(i + 1) % 3]);
    return NULL;
}

static void circle(void)
{
    pthread_t t[3];
    pthread_barrier_init(&meeting, NULL, 3);
    for (long i = 0; i < 3; i++)
        t[i] = start(philosopher, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
}

static void self(void)
{
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&left);
}

static mtx_t c11;

static void self_c11(void)
{
    mtx_init(&c11, mtx_plain);
    mtx_lock(&c11);
    mtx_lock(&c11);
}

static void *reader_then_mutex(void *arg)
{
    pthread_rwlock_rdlock(&table);
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&left);
    return arg;
}

static void *mutex_then_writer(void *arg)
{
    pthread_mutex_lock(&left);
    pthread_barrier_wait(&meeting);
    pthread_rwlock_wrlock(&table);
    return arg;
}

static void readers(void)
{
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_t a = start(reader_then_mutex, NULL), b = start(mutex_then_writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static void *wants_left(void *arg)
{
    pthread_mutex_lock(&left);
    pthread_mutex_unlock(&left);
    return arg;
}

static void join_held(void)
{
    pthread_mutex_lock(&left);
    pthread_join(start(wants_left, NULL), NULL);
}

static void *ends_with_left(void *arg)
{
    pthread_mutex_lock(&left);
    return arg;
}

static void dead_owner(void)
{
    pthread_join(start(ends_with_left, NULL), NULL);
    pthread_mutex_lock(&left);
}

/* Waits for the condition with another lock held that the signaller needs. */
static void *waits_with_right(void *arg)
{
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    pthread_barrier_wait(&meeting);
    pthread_cond_wait(&changed, &left);
    return arg;
}

static void critical(void)
{
    pthread_barrier_init(&meeting, NULL, 2);
    pthread_t t = start(waits_with_right, NULL);
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&right);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&right);
    pthread_join(t, NULL);
}

static void indefinite(void)
{
    pthread_mutex_lock(&left);
    pthread_cond_wait(&changed, &left);
}

static void *signals_early(void *arg)
{
    pthread_mutex_lock(&left);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&left);
    return arg;
}

static void lost(void)
{
    pthread_join(start(signals_early, NULL), NULL);
    pthread_mutex_lock(&left);
    pthread_cond_wait(&changed, &left);
}

static void *takes_item(void *arg)
{
    sem_wait(&items);
    return arg;
}

static void semaphore(void)
{
    sem_init(&items, 0, 1);
    pthread_t a = start(takes_item, NULL), b = start(takes_item, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static void *meets(void *arg)
{
    pthread_barrier_wait(&meeting);
    return arg;
}

static void barrier(void)
{
    pthread_barrier_init(&meeting, NULL, 3);
    pthread_join(start(meets, NULL), NULL);
}

/* Main has left; the others never will. */
static void main_gone(void)
{
    pthread_barrier_init(&meeting, NULL, 2);
    start(left_then_right, NULL);
    start(right_then_left, NULL);
    pthread_exit(NULL);
}

static void in_child(void)
{
    int status = 0;
    pid_t p = fork();
    if (p == 0)
        opposite();
    waitpid(p, &status, 0);
    _exit(WEXITSTATUS(status));
}

/* For hang_timeout: the owner works on and on. */
static volatile int working = 1;
static void *busy_with_left(void *arg)
{
    pthread_mutex_lock(&left);
    pthread_barrier_wait(&meeting);
    while (working)
        usleep(1000);
    return arg;
}

static void slow_owner(void)
{
    pthread_barrier_init(&meeting, NULL, 2);
    start(busy_with_left, NULL);
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&left);
}

static const struct {
    const char *name;
    void (*run)(void);
    const char *expected;
} cases[] = {
    {"opposite", opposite, "WARNING: deadheat: deadlock on"},
    {"partial", partial, "WARNING: deadheat: deadlock on"},
    {"partial_ends", partial_ends, "WARNING: deadheat: deadlock on"},
    {"circle", circle, "WARNING: deadheat: deadlock on"},
    {"self", self, "WARNING: deadheat: deadlock on"},
    {"self_c11", self_c11, "WARNING: deadheat: deadlock on"},
    {"readers", readers, "WARNING: deadheat: deadlock on"},
    {"join_held", join_held, "WARNING: deadheat: deadlock on"},
    {"dead_owner", dead_owner, "WARNING: deadheat: deadlock on"},
    {"critical", critical, "WARNING: deadheat: critical wait for changed"},
    {"indefinite", indefinite, "WARNING: deadheat: indefinite wait for changed"},
    {"lost", lost, "WARNING: deadheat: lost wakeup of changed"},
    {"semaphore", semaphore, "WARNING: deadheat: deadlock on"},
    {"barrier", barrier, "WARNING: deadheat: deadlock on"},
    {"main_gone", main_gone, "WARNING: deadheat: deadlock on"},
    {"in_child", in_child, "WARNING: deadheat: deadlock on"},
    {"slow_owner", slow_owner, "WARNING: deadheat: possible deadlock on left"},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2)
            printf("%s\t%s\n", cases[i].name, cases[i].expected);
        else if (!strcmp(argv[1], cases[i].name)) {
            printf("begun");
            cases[i].run();
            printf("over\n");
        }
    }
    return 0;
}
