/* A second opinion on the small programs: linked to one that was compiled with -fsanitize=thread, in place of that
 * runtime, it runs the program's threads one at a time and chooses who goes on, at random, before every access, atomic
 * operation and synchronisation. Made to be obviously right, not fast: one process, one schedule (ORACLE_SEED). It ends
 * the process when it sees what `prove` is to prove, with one line: KIND PC PC ... (offsets into the program). Knows
 * mutexes, rwlocks, conditions, semaphores, barriers and joins as the programs use them; no once, no futexes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 16, OBJECTS_MAX = 256, FREED_MAX = 8192, STEPS_MAX = 20000, ALL_YIELD_MAX = 400, CHANGES = 3 };
enum { EXIT_FOUND = 100 };

enum kind { ACCESS, SYNC, LOCK, READ_LOCK, WRITE_LOCK, WAKE, SEM_WAIT, JOIN, MEET, YIELD };

struct object {
    const void *address;
    int owner;   /* thread + 1 of a lock or write lock */
    int readers; /* of a rwlock */
    int value;   /* of a semaphore; parties of a barrier */
    int arrived;
    unsigned generation;
};

struct thread {
    pthread_t real;
    void *(*body)(void *);
    void *arg, *result;
    atomic_int go;
    bool ended, yields, signalled, timed;
    int priority;
    /* what it does next */
    enum kind kind;
    uintptr_t address, size, pc;
    bool writes, is_atomic;
    struct object *object, *condition;
    unsigned generation;
    int joins;
};

static struct thread threads[THREADS_MAX];
static int count, steps, all_yield;
static bool active;
static _Thread_local int self = -1;
static struct object objects[OBJECTS_MAX];
static struct {
    uintptr_t from, to, pc;
} freed[FREED_MAX];
static int freed_count;
static uint64_t random_state;
static bool by_priority;
static int change_at[CHANGES];

static void futex(atomic_int *word, int what, int value)
{
    syscall(SYS_futex, word, what, value, NULL, NULL, 0);
}

static unsigned any(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

static uintptr_t base(void)
{
    Dl_info info;
    return dladdr((void *)base, &info) ? (uintptr_t)info.dli_fbase : 0;
}

static void found(const char *kind, const uintptr_t *pcs, int n)
{
    char line[512];
    int at = snprintf(line, sizeof line, "%s", kind);
    uintptr_t from = base();
    for (int i = 0; i < n; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, " %lx", (unsigned long)(pcs[i] - from - 1));
    line[at++] = '\n';
    (void)!write(2, line, (size_t)at);
    _exit(EXIT_FOUND);
}

static struct object *object_at(const void *address)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        if (objects[i].address == address)
            return &objects[i];
        if (!objects[i].address) {
            objects[i].address = address;
            return &objects[i];
        }
    }
    abort();
}

static bool is_enabled(const struct thread *t)
{
    const struct object *o = t->object;
    if (t->ended)
        return false;
    switch (t->kind) {
    case LOCK:
    case WRITE_LOCK:
        return o->owner == 0 && o->readers == 0;
    case READ_LOCK:
        return o->owner == 0;
    case WAKE:
        return (t->signalled || t->timed) && o->owner == 0;
    case SEM_WAIT:
        return o->value > 0 || t->timed;
    case MEET:
        return o->generation != t->generation;
    case JOIN:
        return threads[t->joins].ended;
    default:
        return true;
    }
}

static void look_for_race(void)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            const struct thread *a = &threads[i], *b = &threads[j];
            if (a->ended || b->ended || a->kind != ACCESS || b->kind != ACCESS || (a->is_atomic && b->is_atomic) ||
                (!a->writes && !b->writes) || a->address + a->size <= b->address || b->address + b->size <= a->address)
                continue;
            found("race", (uintptr_t[]){a->pc, b->pc}, 2);
        }
}

static void blocked(void)
{
    uintptr_t pcs[THREADS_MAX];
    int n = 0;
    bool waits = false;
    for (int i = 0; i < count; i++)
        if (!threads[i].ended) {
            pcs[n++] = threads[i].pc;
            waits |= threads[i].kind == WAKE;
        }
    found(waits ? "lost-wakeup" : "deadlock", pcs, n);
}

static int choose(void)
{
    int enabled[THREADS_MAX], n = 0, eager = 0;
    for (int i = 0; i < count; i++)
        if (is_enabled(&threads[i])) {
            enabled[n++] = i;
            eager += !threads[i].yields;
        }
    if (n == 0)
        blocked();
    all_yield = eager ? 0 : all_yield + 1;
    if (++steps > STEPS_MAX || all_yield > ALL_YIELD_MAX)
        found("livelock", NULL, 0);
    int left = 0;
    for (int i = 0; i < n; i++)
        if (!eager || !threads[enabled[i]].yields)
            enabled[left++] = enabled[i];
    for (int i = 0; i < CHANGES; i++)
        if (steps == change_at[i] && self >= 0)
            threads[self].priority = -1 - i;
    int best = enabled[any((unsigned)left)];
    for (int i = 0; by_priority && eager && i < left; i++)
        if (threads[enabled[i]].priority > threads[best].priority)
            best = enabled[i];
    for (int i = 0; i < count; i++)
        if (i != best)
            threads[i].yields = false;
    return best;
}

static void hand_over(int to)
{
    threads[to].go = 1;
    futex(&threads[to].go, FUTEX_WAKE_PRIVATE, 1);
}

static void wait_for_turn(void)
{
    while (!threads[self].go)
        futex(&threads[self].go, FUTEX_WAIT_PRIVATE, 0);
    threads[self].go = 0;
}

/* The calling thread has said what it does next; returns when it may. */
static void park(enum kind kind, uintptr_t pc)
{
    struct thread *me = &threads[self];
    me->kind = kind;
    me->pc = pc;
    me->yields = kind == YIELD;
    look_for_race();
    int next = choose();
    if (next != self) {
        hand_over(next);
        wait_for_turn();
    }
    me->kind = SYNC;
}

static bool is_watched(void)
{
    return active && self >= 0;
}

static void check_freed(uintptr_t address, uintptr_t size, uintptr_t pc)
{
    for (int i = 0; i < freed_count; i++)
        if (address < freed[i].to && freed[i].from < address + size)
            found("use-after-free", (uintptr_t[]){pc, freed[i].pc}, freed[i].pc ? 2 : 1);
}

static void access_memory(const volatile void *p, uintptr_t size, bool writes, bool is_atomic, uintptr_t pc)
{
    if (!is_watched())
        return;
    struct thread *me = &threads[self];
    me->address = (uintptr_t)p;
    me->size = size;
    me->writes = writes;
    me->is_atomic = is_atomic;
    park(ACCESS, pc);
    check_freed((uintptr_t)p, size, pc);
}

#define PC ((uintptr_t)__builtin_return_address(0))

static void forget(void *p, uintptr_t size, uintptr_t pc)
{
    if (freed_count < FREED_MAX) {
        freed[freed_count].from = (uintptr_t)p;
        freed[freed_count].to = (uintptr_t)p + size;
        freed[freed_count++].pc = pc;
    }
}

/* Nothing is ever given back, so an address means one object for ever. */
void free(void *p)
{
    if (!p || !is_watched())
        return;
    struct thread *me = &threads[self];
    me->address = (uintptr_t)p;
    me->size = malloc_usable_size(p);
    me->writes = true;
    me->is_atomic = true; /* told as use after free */
    park(SYNC, PC);
    check_freed((uintptr_t)p, 1, PC);
    forget(p, malloc_usable_size(p), PC);
}

/* ---- accesses, as -fsanitize=thread calls them ---- */

#define PLAIN(n)                                                                                                       \
    void __tsan_read##n(void *p)                                                                                       \
    {                                                                                                                  \
        access_memory(p, n, false, false, PC);                                                                         \
    }                                                                                                                  \
    void __tsan_write##n(void *p)                                                                                      \
    {                                                                                                                  \
        access_memory(p, n, true, false, PC);                                                                          \
    }                                                                                                                  \
    void __tsan_unaligned_read##n(void *p)                                                                             \
    {                                                                                                                  \
        access_memory(p, n, false, false, PC);                                                                         \
    }                                                                                                                  \
    void __tsan_unaligned_write##n(void *p)                                                                            \
    {                                                                                                                  \
        access_memory(p, n, true, false, PC);                                                                          \
    }                                                                                                                  \
    void __tsan_read_write##n(void *p)                                                                                 \
    {                                                                                                                  \
        access_memory(p, n, true, false, PC);                                                                          \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_init(void)
{
}
void __tsan_func_entry(void *p)
{
    (void)p;
}
void __tsan_func_exit(void)
{
}
void __tsan_vptr_update(void **p, void *v)
{
    if (*p != v)
        access_memory(p, sizeof *p, true, false, PC);
}
void __tsan_vptr_read(void **p)
{
    access_memory(p, sizeof *p, false, false, PC);
}
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    access_memory(from, n, false, false, PC);
    access_memory(to, n, true, false, PC);
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    access_memory(from, n, false, false, PC);
    access_memory(to, n, true, false, PC);
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int c, size_t n)
{
    access_memory(to, n, true, false, PC);
    return memset(to, c, n);
}
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
}
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

#define UPDATE(bits, name, expression)                                                                                 \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p, uint##bits##_t v, int order)               \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        access_memory(p, bits / 8, true, true, PC);                                                                    \
        uint##bits##_t old = *p;                                                                                       \
        *p = (uint##bits##_t)(expression);                                                                             \
        return old;                                                                                                    \
    }
#define ATOMIC(bits)                                                                                                   \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order)                             \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        access_memory(p, bits / 8, false, true, PC);                                                                   \
        return *p;                                                                                                     \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order)                          \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        access_memory(p, bits / 8, true, true, PC);                                                                    \
        *p = v;                                                                                                        \
    }                                                                                                                  \
    UPDATE(bits, exchange, v)                                                                                          \
    UPDATE(bits, fetch_add, old + v)                                                                                   \
    UPDATE(bits, fetch_sub, old - v)                                                                                   \
    UPDATE(bits, fetch_and, old &v)                                                                                    \
    UPDATE(bits, fetch_or, old | v)                                                                                    \
    UPDATE(bits, fetch_xor, old ^ v)                                                                                   \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *p, uint##bits##_t c,            \
                                                              uint##bits##_t v, int order, int other)                  \
    {                                                                                                                  \
        (void)order, (void)other;                                                                                      \
        access_memory(p, bits / 8, true, true, PC);                                                                    \
        uint##bits##_t old = *p;                                                                                       \
        if (old == c)                                                                                                  \
            *p = v;                                                                                                    \
        return old;                                                                                                    \
    }
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

/* ---- threads ---- */

static void next_without_me(void)
{
    look_for_race();
    hand_over(choose());
}

static void *trampoline(void *arg)
{
    struct thread *me = arg;
    self = (int)(me - threads);
    wait_for_turn();
    me->result = me->body(me->arg);
    park(SYNC, 0);
    me->ended = true;
    forget((char *)pthread_self() - 256, 256, 0); /* its thread-local variables lie there */
    next_without_me();
    for (;;) /* not joined really: its stack must not become another thread's */
        pause();
}

static void begin(void)
{
    const char *seed = getenv("ORACLE_SEED");
    unsigned long s = seed ? strtoul(seed, NULL, 10) : 1;
    random_state = s * 0x9E3779B97F4A7C15u + 1;
    by_priority = s % 2;
    for (int i = 0; i < 8; i++)
        any(2);
    for (int i = 0; i < CHANGES; i++)
        change_at[i] = 1 + (int)any(1u << (3 + any(5)));
    active = true;
    self = count++;
    threads[self].priority = (int)any(1000);
}

int pthread_create(pthread_t *out, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    (void)attr;
    if (!active)
        begin();
    park(SYNC, PC);
    if (count == THREADS_MAX)
        return EAGAIN;
    struct thread *t = &threads[count];
    t->body = body;
    t->arg = arg;
    t->kind = SYNC;
    t->priority = (int)any(1000);
    int code = real(&t->real, NULL, trampoline, t);
    *out = t->real;
    count++;
    return code;
}

int pthread_join(pthread_t t, void **result)
{
    for (int i = 0; i < count; i++)
        if (i != 0 && pthread_equal(threads[i].real, t)) {
            threads[self].joins = i;
            park(JOIN, PC);
            if (result)
                *result = threads[i].result;
            return 0;
        }
    return ESRCH;
}

int sched_yield(void)
{
    if (is_watched())
        park(YIELD, PC);
    return 0;
}

/* ---- locks, conditions, semaphores, barriers; before the first thread there is nobody to wait for ---- */

static void take(const void *lock, enum kind kind, uintptr_t pc)
{
    struct object *o = object_at(lock);
    if (is_watched()) {
        threads[self].object = o;
        park(kind, pc);
    }
    if (kind == READ_LOCK)
        o->readers++;
    else
        o->owner = self + 1 ? self + 1 : 1;
}

static void give_back(const void *lock, uintptr_t pc)
{
    struct object *o = object_at(lock);
    if (is_watched())
        park(SYNC, pc);
    if (o->readers)
        o->readers--;
    else
        o->owner = 0;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    take(m, LOCK, PC);
    return 0;
}
int pthread_mutex_trylock(pthread_mutex_t *m)
{
    if (is_watched())
        park(SYNC, PC);
    struct object *o = object_at(m);
    if (o->owner)
        return EBUSY;
    o->owner = self + 1 ? self + 1 : 1;
    return 0;
}
int pthread_mutex_unlock(pthread_mutex_t *m)
{
    give_back(m, PC);
    return 0;
}
int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    take(l, READ_LOCK, PC);
    return 0;
}
int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    take(l, WRITE_LOCK, PC);
    return 0;
}
int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    give_back(l, PC);
    return 0;
}

static int wait_on(pthread_cond_t *c, pthread_mutex_t *m, bool timed, uintptr_t pc)
{
    if (!is_watched())
        abort();
    struct thread *me = &threads[self];
    park(SYNC, pc);
    object_at(m)->owner = 0;
    me->object = object_at(m);
    me->condition = object_at(c);
    me->signalled = false;
    me->timed = timed;
    park(WAKE, pc);
    me->object->owner = self + 1;
    me->condition = NULL;
    me->timed = false;
    return me->signalled ? 0 : ETIMEDOUT;
}
int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return wait_on(c, m, false, PC);
}
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    (void)until;
    return wait_on(c, m, true, PC);
}

static void wake(pthread_cond_t *c, bool all, uintptr_t pc)
{
    if (!is_watched())
        return;
    park(SYNC, pc);
    struct object *o = object_at(c);
    int waiting[THREADS_MAX], n = 0;
    for (int i = 0; i < count; i++)
        if (threads[i].condition == o && !threads[i].signalled && !threads[i].ended)
            waiting[n++] = i;
    if (n == 0)
        return;
    int chosen = (int)any((unsigned)n);
    for (int i = 0; i < n; i++)
        if (all || i == chosen)
            threads[waiting[i]].signalled = true;
}
int pthread_cond_signal(pthread_cond_t *c)
{
    wake(c, false, PC);
    return 0;
}
int pthread_cond_broadcast(pthread_cond_t *c)
{
    wake(c, true, PC);
    return 0;
}

int sem_init(sem_t *s, int shared, unsigned value)
{
    (void)shared;
    object_at(s)->value = (int)value;
    return 0;
}
static int sem_take(sem_t *s, bool timed, uintptr_t pc)
{
    struct object *o = object_at(s);
    threads[self].object = o;
    threads[self].timed = timed;
    park(SEM_WAIT, pc);
    threads[self].timed = false;
    if (o->value == 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    o->value--;
    return 0;
}
int sem_wait(sem_t *s)
{
    return sem_take(s, false, PC);
}
int sem_timedwait(sem_t *s, const struct timespec *until)
{
    (void)until;
    return sem_take(s, true, PC);
}
int sem_post(sem_t *s)
{
    if (is_watched())
        park(SYNC, PC);
    object_at(s)->value++;
    return 0;
}
int sem_getvalue(sem_t *s, int *value)
{
    if (is_watched())
        park(SYNC, PC);
    *value = object_at(s)->value;
    return 0;
}

int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned parties)
{
    (void)attr;
    object_at(b)->value = (int)parties;
    return 0;
}
int pthread_barrier_wait(pthread_barrier_t *b)
{
    struct object *o = object_at(b);
    park(SYNC, PC);
    if (++o->arrived == o->value) {
        o->arrived = 0;
        o->generation++;
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    threads[self].object = o;
    threads[self].generation = o->generation;
    park(MEET, PC);
    return 0;
}
