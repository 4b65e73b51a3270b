/* Small programs, one a name: cases NAME. What must come out of each is in `run`. Order is forced where no detector
 * sees it; what is to overlap is held open by noise on `x`. */
#include "../sync/invisible.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *body(void *);

static void both(body *a, body *b)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, a, NULL);
    pthread_create(&t[1], NULL, b, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
}

/* ---- primitive sections: the first is inside for long, the second comes ---- */

static long x, sum;
static volatile long volatile_x;
static _Atomic long atomic_x;
static const long constant_x[2] = {1, 2};
static char near_x[2];
static struct {
    long a, b;
} struct_x, copy;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define FIRST(name, access)                                                                                            \
    static void *first_##name(void *arg)                                                                               \
    {                                                                                                                  \
        invisible_say(1);                                                                                              \
        access;                                                                                                        \
        return arg;                                                                                                    \
    }
#define SECOND(name, access)                                                                                           \
    static void *second_##name(void *arg)                                                                              \
    {                                                                                                                  \
        invisible_await(1);                                                                                            \
        usleep(2000);                                                                                                  \
        access;                                                                                                        \
        return arg;                                                                                                    \
    }
FIRST(read, sum += x)
FIRST(write, x = 1)
SECOND(read, sum += x)
SECOND(write, x = 2)
SECOND(part, *((char *)&x + 3) = 1)
FIRST(volatile_write, volatile_x = 1)
SECOND(volatile_read, sum += volatile_x)
FIRST(atomic_write, atomic_x = 1)
SECOND(atomic_read, sum += atomic_x)
SECOND(plain_of_atomic, sum += *(long *)&atomic_x)
FIRST(constant, sum += constant_x[sum & 1])
SECOND(constant, copy.a = constant_x[copy.a & 1])
FIRST(near, near_x[0] = 1)
SECOND(near, near_x[1] = 1)
FIRST(copies, memcpy(&copy, &struct_x, sizeof copy))
SECOND(copied, struct_x.b = 1)

static void *locked_writer(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        x++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

/* A lock that nobody knows: AtomRace needs not know it. */
static int spin;
static void *spinning_writer(void *arg)
{
    for (int i = 0; i < 3; i++) {
        while (__atomic_exchange_n(&spin, 1, __ATOMIC_ACQUIRE))
            usleep(100);
        x++;
        __atomic_store_n(&spin, 0, __ATOMIC_RELEASE);
    }
    return arg;
}

/* Order that is in no program text at all: the steps are native code's. */
static void *hands_over(void *arg)
{
    x = 1;
    invisible_say(1);
    return arg;
}
static void *takes_over(void *arg)
{
    invisible_await(1);
    x = 2;
    return arg;
}

/* ---- ways out of the middle of an access ---- */

static sigjmp_buf out;
static volatile long *forbidden;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

/* The store faults and never happens; afterwards the page is given to the other thread. */
static void *faults(void *arg)
{
    signal(SIGSEGV, jump);
    if (!sigsetjmp(out, 1))
        *forbidden = 1;
    mprotect((void *)forbidden, 4096, PROT_READ | PROT_WRITE);
    invisible_say(1);
    invisible_await(2);
    return arg;
}
static void *uses_page(void *arg)
{
    invisible_await(1);
    *forbidden = 2;
    invisible_say(2);
    return arg;
}

/* Cancelled while it is inside; joined, then x is the other's. */
static void *cancelled(void *arg)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    invisible_say(1);
    for (;;)
        x = 1;
    return arg;
}

static void cancel_and_use(void)
{
    pthread_t t;
    pthread_create(&t, NULL, cancelled, NULL);
    invisible_await(1);
    usleep(5000);
    pthread_cancel(t);
    pthread_join(t, NULL);
    x = 2;
    sum += x;
}

/* The child has the parent's memory, but not the thread that was inside. */
static void fork_and_use(void)
{
    pthread_t t;
    pthread_create(&t, NULL, first_write, NULL);
    invisible_await(1);
    usleep(2000);
    pid_t child = fork();
    if (child == 0) {
        sum += x;
        _exit(0);
    }
    pthread_join(t, NULL);
    waitpid(child, NULL, 0);
}

/* A handler synchronises in the middle: what the other does with x then comes behind. */
static int handed;
static void hand_over(int signal)
{
    (void)signal;
    __atomic_store_n(&handed, 1, __ATOMIC_RELEASE);
}
static void *interrupted(void *arg)
{
    signal(SIGUSR1, hand_over);
    invisible_say(1);
    sum += x;
    return arg;
}
static void signal_in_the_middle(void)
{
    pthread_t t;
    pthread_create(&t, NULL, interrupted, NULL);
    invisible_await(1);
    usleep(5000);
    pthread_kill(t, SIGUSR1);
    while (!__atomic_load_n(&handed, __ATOMIC_ACQUIRE))
        usleep(100);
    pthread_join(t, NULL);
    x = 2;
}

/* ---- longer sections, with somebody in between ---- */

static long s, other_s;

static void *writes_between(void *arg)
{
    invisible_await(1);
    s = 100;
    invisible_say(2);
    return arg;
}
static void *reads_between(void *arg)
{
    invisible_await(1);
    sum += s;
    invisible_say(2);
    return arg;
}
static void *writes_other(void *arg)
{
    invisible_await(1);
    other_s = 1;
    invisible_say(2);
    return arg;
}
static void between(void)
{
    invisible_say(1);
    invisible_await(2);
}

static void *load_store(void *arg)
{
    long seen = s; /* entry */
    between();
    s = seen + 1; /* end */
    return arg;
}
static void *load_store_other(void *arg)
{
    long seen = s;
    other_s = 7; /* one more variable of the section */
    between();
    s = seen + 1;
    return arg;
}
static void *behind_the_end(void *arg)
{
    long seen = s;
    s = seen + 1;
    between();
    return arg;
}
static void *exits(void *arg)
{
    long seen = s;
    if (arg)
        return arg;
    sum += s; /* exit: it is given up here */
    between();
    s = seen + 1;
    return arg;
}
/* The section begins again where it ends. */
static void *circles(void *arg)
{
    for (int i = 0; i < 3; i++) {
        s = i; /* entry and end */
        if (i == 1)
            between();
    }
    return arg;
}
static void recurse(int depth)
{
    long seen = s; /* entry */
    if (depth)
        recurse(depth - 1);
    else
        between();
    s = seen + 1; /* end */
}
static void *recursive(void *arg)
{
    recurse(2);
    return arg;
}
/* Left without an end, and entered again; the other came in the part that was left. */
static void half(int leave)
{
    long seen = s; /* entry */
    if (leave)
        return;
    s = seen + 1; /* end */
}
static void *left_early(void *arg)
{
    half(1);
    between();
    half(0);
    return arg;
}
static pthread_mutex_t section_lock = PTHREAD_MUTEX_INITIALIZER;
static void *locked_section(void *arg)
{
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&section_lock);
        long seen = s; /* entry */
        sum++;
        s = seen + 1; /* end */
        pthread_mutex_unlock(&section_lock);
    }
    return arg;
}

/* ---- pairs: every case of two accesses of one thread and one of another between them ---- */

static long p;

static void *pair(void *arg)
{
    const char *what = arg;
    volatile long seen;
    seen = 0;
    if (what[0] == 'R')
        seen = p;
    else
        p = 1;
    invisible_say(1);
    invisible_await(2);
    if (what[2] == 'R')
        seen = p;
    else
        p = 2;
    (void)seen;
    return arg;
}
static void *remote(void *arg)
{
    const char *what = arg;
    volatile long seen;
    invisible_await(1);
    if (what[1] == 'R')
        seen = p;
    else
        p = 3;
    invisible_say(2);
    (void)seen;
    return arg;
}
static void pairs(char *what)
{
    pthread_t t[2];
    pthread_create(&t[1], NULL, remote, what);
    pthread_create(&t[0], NULL, pair, what);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
}
/* Noise on `p` holds up the second access, whose place the other's write takes: it has another name for `p`. */
static long *volatile other_p = &p;
static void *pair_held_up(void *arg)
{
    long seen = p;
    invisible_say(1);
    p = seen + 1;
    return arg;
}
static void *pair_remote(void *arg)
{
    invisible_await(1);
    usleep(5000);
    *other_p = 3;
    return arg;
}
static void *pair_locked_apart(void *arg)
{
    pthread_mutex_lock(&lock);
    sum += p;
    pthread_mutex_unlock(&lock);
    between();
    pthread_mutex_lock(&lock);
    p = 2;
    pthread_mutex_unlock(&lock);
    return arg;
}
static void *pair_remote_locked(void *arg)
{
    invisible_await(1);
    pthread_mutex_lock(&lock);
    p = 3;
    pthread_mutex_unlock(&lock);
    invisible_say(2);
    return arg;
}

static const struct {
    const char *name;
    body *a, *b;
} table[] = {
    {"write_read", first_write, second_read},
    {"read_write", first_read, second_write},
    {"write_write", first_write, second_write},
    {"read_read", first_read, second_read},
    {"part", first_write, second_part},
    {"volatile", first_volatile_write, second_volatile_read},
    {"atomic", first_atomic_write, second_atomic_read},
    {"plain_of_atomic", first_atomic_write, second_plain_of_atomic},
    {"constant", first_constant, second_constant},
    {"near", first_near, second_near},
    {"copy", first_copies, second_copied},
    {"locked", locked_writer, locked_writer},
    {"spin", spinning_writer, spinning_writer},
    {"handed_over", hands_over, takes_over},
    {"load_store_write", load_store, writes_between},
    {"load_store_read", load_store, reads_between},
    {"load_store_other", load_store_other, writes_other},
    {"behind_the_end", behind_the_end, writes_between},
    {"exits", exits, writes_between},
    {"circles", circles, writes_between},
    {"recursive", recursive, writes_between},
    {"left_early", left_early, writes_between},
    {"locked_section", locked_section, locked_section},
    {"pair_held_up", pair_held_up, pair_remote},
    {"pair_locked_apart", pair_locked_apart, pair_remote_locked},
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name))
            return both(table[i].a, table[i].b), 0;
    if (!strcmp(name, "fault"))
        both(faults, uses_page);
    else if (!strcmp(name, "cancel"))
        cancel_and_use();
    else if (!strcmp(name, "fork"))
        fork_and_use();
    else if (!strcmp(name, "signal"))
        signal_in_the_middle();
    else if (!strncmp(name, "pair_", 5))
        pairs(argv[1] + 5);
    else
        return fprintf(stderr, "no case '%s'\n", name), 2;
    return 0;
}
