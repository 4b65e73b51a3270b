/* Performs traces in exactly their order, with one thread for each of theirs. Built by the plain compiler: whose turn
 * it is passes from thread to thread by nothing that a detector sees (a word and a system call), and what the detector
 * says is caught where it would be printed.
 *
 * usage: PROGRAM TRACES; without: the operations' names. Numbers of the input, for each trace:
 *   THREADS OPS ARENA BYTES, then for each op: THREAD OPERATION OBJECT OFFSET OTHER OFFSET VALUE GROUP POSITION
 * ARENA is 0 (a block of the heap) or 1 (global). An object is CLASS * 64 + NUMBER, see resolve().
 * Output: for each trace lines "H ..." (bytes that race), "R ..." (as reported), "D LATER EARLIER" (operations on whose
 * order the runtime's clocks and event/happens_before.h differ), "W" when all clocks began anew, so
 * that what was before is forgotten, or a thread had to go on with another's slot, so that the two are not told apart,
 * then "E". */
#include "operations.h"
#include "order.h"

#include "detect/race.h"
#include "runtime/race/thread_slots.h"
#include "runtime/report/report.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = ORDER_THREADS, OPS = ORDER_OPS, EACH = 8, BLOCKS = 64, NUMBERS = 64 };
enum { ARENA, BLOCK, MUTEX, RWLOCK, SPIN, SEMAPHORE, BARRIER, COND, ONCE, THREAD, PRIVATE, UNKNOWN };

struct op {
    unsigned thread, operation, object, offset, other, other_offset;
    uint64_t value;
    unsigned group, position;
};

static struct {
    unsigned n_threads, n_ops, arena_size, n_blocks;
    struct op op[OPS];
    char *arena;
    struct {
        char *at;
        size_t size;
    } block[BLOCKS];
    bool created[THREADS], joined[THREADS];
} trace;

static pthread_mutex_t mutexes[EACH];
static pthread_rwlock_t rwlocks[EACH];
static pthread_spinlock_t spins[EACH];
static sem_t semaphores[EACH];
static pthread_barrier_t barriers[EACH];
static pthread_cond_t conds[EACH];
static pthread_once_t onces[EACH];
static pthread_t threads[THREADS];
static char scratch[THREADS][64] __attribute__((aligned(64)));  /* only one thread uses it: no races there */
static unsigned created_before, created_now, index_of[THREADS]; /* threads by the order of creation; main is 0 */

/* ---- turns ---- */

static unsigned turn, group_left, signalled, started;

static long futex(unsigned *word, int operation, unsigned value)
{
    register long timeout __asm__("r10") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_futex), "D"(word), "S"((long)operation), "d"((long)value), "r"(timeout)
                     : "rcx", "r11", "memory");
    return result;
}

enum { WAIT = 0 | 128, WAKE = 1 | 128 };

static void wait_until(unsigned *word, unsigned value)
{
    for (unsigned now; (now = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != value;)
        futex(word, WAIT, now);
}

static void become(unsigned *word, unsigned value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    futex(word, WAKE, 1u << 30);
}

static _Thread_local struct op *current;

void pass_turn(void)
{
    if (current->position + 1 < current->group)
        become(&turn, (unsigned)(current - trace.op) + 1);
}

void say_signalled(void)
{
    __atomic_store_n(&signalled, 1, __ATOMIC_RELEASE);
}

int is_signalled(void)
{
    return (int)__atomic_load_n(&signalled, __ATOMIC_ACQUIRE);
}

/* All operations of a group at once, when they are through. */
static void apply_order(const struct op *first)
{
    unsigned thread[THREADS];
    const char *name = operations[first->operation].name;
    if (name[0] == 'b') {
        for (unsigned i = 0; i < first->group; i++)
            thread[i] = first[i].thread;
        order_barrier(thread, first->group);
        return;
    }
    for (unsigned i = 0; i < first->group; i++)
        order_apply((int)(first + i - trace.op), operations[first[i].operation].name, first[i].thread, first[i].object,
                    first[i].offset, i ? first->thread : first->other);
}

/* The last one of a group to be through lets the trace go on. */
static void end_turn(struct op *o)
{
    unsigned end = (unsigned)(o - trace.op) - o->position + o->group;
    if (o->group == 1 || __atomic_add_fetch(&group_left, 1, __ATOMIC_ACQ_REL) == o->group) {
        __atomic_store_n(&group_left, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&signalled, 0, __ATOMIC_RELAXED);
        apply_order(o - o->position);
        become(&turn, end);
    }
}

/* ---- objects ---- */

void keep_block(void *block)
{
    if (!block || trace.n_blocks == BLOCKS)
        abort();
    trace.block[trace.n_blocks].at = block;
    trace.block[trace.n_blocks++].size = current->value;
}

static char *resolve(const struct op *o, unsigned object, unsigned offset)
{
    unsigned n = object % NUMBERS;
    switch (object / NUMBERS) {
    case ARENA:
        return trace.arena + offset;
    case BLOCK:
        return trace.block[n].at + offset;
    case MUTEX:
        return (char *)&mutexes[n];
    case RWLOCK:
        return (char *)&rwlocks[n];
    case SPIN:
        return (char *)&spins[n];
    case SEMAPHORE:
        return (char *)&semaphores[n];
    case BARRIER:
        return (char *)&barriers[n];
    case COND:
        return (char *)&conds[n];
    case ONCE:
        return (char *)&onces[n];
    case THREAD:
        return (char *)&threads[n];
    case PRIVATE:
        return scratch[o->thread] + offset;
    default:
        return NULL;
    }
}

/* The newest object there. */
static unsigned object_at(uintptr_t addr, unsigned *offset)
{
    for (unsigned i = trace.n_blocks; i-- > 0;)
        if (addr - (uintptr_t)trace.block[i].at < trace.block[i].size) {
            *offset = (unsigned)(addr - (uintptr_t)trace.block[i].at);
            return BLOCK * NUMBERS + i;
        }
    *offset = (unsigned)(addr - (uintptr_t)trace.arena);
    return addr - (uintptr_t)trace.arena < trace.arena_size ? ARENA * NUMBERS : UNKNOWN * NUMBERS;
}

/* ---- what is said ---- */

static char out[1 << 20];
static size_t n_out;
static char out_lock;

/* Nothing of the library that the runtime looks at. */
static void put_number(uint64_t n)
{
    char digits[24];
    unsigned i = 0;
    do
        digits[i++] = (char)('0' + n % 10);
    while (n /= 10);
    out[n_out++] = ' ';
    while (i-- > 0)
        out[n_out++] = digits[i];
}

static void say(char letter, const uint64_t *numbers, unsigned n)
{
    while (__atomic_test_and_set(&out_lock, __ATOMIC_ACQUIRE))
        ;
    if (n_out + 1024 < sizeof out) {
        out[n_out++] = letter;
        for (unsigned i = 0; i < n; i++)
            put_number(numbers[i]);
        out[n_out++] = '\n';
    }
    __atomic_clear(&out_lock, __ATOMIC_RELEASE);
}

static void flush(void)
{
    for (size_t done = 0; done < n_out;) {
        ssize_t n = write(1, out + done, n_out - done);
        if (n <= 0)
            _exit(4);
        done += (size_t)n;
    }
    n_out = 0;
}

static unsigned thread_of(uint32_t index)
{
    for (unsigned i = 0; i < trace.n_threads; i++)
        if ((i == 0 || trace.created[i]) && index_of[i] == index)
            return i;
    return 99;
}

extern __typeof(dh_slots_generation) dh_slots_generation __attribute__((weak));
extern __typeof(dh_slots_merged) dh_slots_merged __attribute__((weak));
extern void dh_sync_objects_remove(uintptr_t addr, size_t size) __attribute__((weak));
extern void __real_dh_race_report_hit(struct dh_race_thread *t, const struct dh_race_hit *hit) __attribute__((weak));
void __wrap_dh_race_report_hit(struct dh_race_thread *t, const struct dh_race_hit *hit);
void __wrap_dh_report(const struct dh_report *r);
bool __wrap_dh_report_is_worth_explaining(uint64_t pair, uint64_t pair_and_address);

void __wrap_dh_race_report_hit(struct dh_race_thread *t, const struct dh_race_hit *hit)
{
    unsigned offset, object = object_at(hit->addr, &offset);
    uint64_t numbers[] = {turn,
                          object,
                          offset,
                          hit->bytes,
                          hit->writes,
                          hit->wrote,
                          hit->atomic,
                          hit->was_atomic,
                          dh_epoch_slot(hit->before),
                          dh_epoch_clock(hit->before)};
    say('H', numbers, sizeof numbers / sizeof *numbers);
    if (__real_dh_race_report_hit)
        __real_dh_race_report_hit(t, hit);
}

void __wrap_dh_report(const struct dh_report *r)
{
    unsigned offset, object = object_at(r->addr, &offset), n = 0;
    uint64_t numbers[32] = {turn, r->kind, object, offset, r->size};
    n = 5;
    for (unsigned i = 0; i < r->n_accesses; i++) {
        const struct dh_report_access *a = &r->access[i];
        object = object_at(a->addr, &offset);
        numbers[n++] = thread_of(a->thread);
        numbers[n++] = a->flags;
        numbers[n++] = a->place;
        numbers[n++] = object;
        numbers[n++] = offset;
        numbers[n++] = a->size;
        numbers[n++] = a->value;
        numbers[n++] = a->n_locks;
    }
    say('R', numbers, n);
}

/* Each trace is looked at anew. */
bool __wrap_dh_report_is_worth_explaining(uint64_t pair, uint64_t pair_and_address)
{
    (void)pair, (void)pair_and_address;
    return true;
}

/* ---- the run ---- */

static void perform(struct op *o)
{
    char *at = resolve(o, o->object, o->offset), *other = resolve(o, o->other, o->other_offset);
    bool creates = o->object / NUMBERS == THREAD, joins = o->other / NUMBERS == THREAD;
    char there[16];
    current = o;
    if (creates) {
        other = (char *)(uintptr_t)(o->object % NUMBERS);
        index_of[o->object % NUMBERS] = created_before + ++created_now;
        trace.created[o->object % NUMBERS] = true;
    } else if (joins) {
        trace.joined[o->other % NUMBERS] = true;
    } else if (o->other / NUMBERS == PRIVATE && o->other_offset == 1) { /* what is there, to compare with */
        for (volatile int i = 0; i < 16; i++)
            ((volatile char *)there)[i] = ((volatile char *)at)[i];
        other = there;
    }
    operations[o->operation].run(at, other, o->value);
    if (creates)
        wait_until(&started, created_now);
}

static void check_order(const struct op *o)
{
    int earlier = dh_slots_generation ? order_differs(o->thread) : -1;
    if (earlier >= 0)
        say('D', (uint64_t[]){(uint64_t)(o - trace.op), (uint64_t)earlier}, 2);
}

static void run_ops(unsigned me)
{
    for (unsigned i = 0; i < trace.n_ops; i++) {
        struct op *o = &trace.op[i];
        if (o->thread != me)
            continue;
        wait_until(&turn, i);
        check_order(o);
        perform(o);
        end_turn(o);
    }
}

void *interpret_thread(void *thread)
{
    become(&started, created_now);
    run_ops((unsigned)(uintptr_t)thread);
    return NULL;
}

static void make_objects(void)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                PTHREAD_MUTEX_ADAPTIVE_NP};
    for (unsigned i = 0; i < EACH; i++) {
        pthread_mutexattr_t a;
        pthread_mutexattr_init(&a);
        pthread_mutexattr_settype(&a, types[i % 4]);
        pthread_mutex_init(&mutexes[i], &a);
        pthread_mutexattr_destroy(&a);
        pthread_rwlock_init(&rwlocks[i], NULL);
        pthread_spin_init(&spins[i], 0);
        pthread_barrier_init(&barriers[i], NULL, i ? i : 1);
        pthread_cond_init(&conds[i], NULL);
    }
}

static void run(unsigned arena)
{
    turn = group_left = signalled = started = 0;
    created_before += created_now;
    created_now = 0;
    trace.n_blocks = 0;
    trace.arena = arena ? global_arena : malloc(trace.arena_size);
    if (arena && dh_sync_objects_remove) /* atomics of earlier traces may have had other sizes */
        dh_sync_objects_remove((uintptr_t)trace.arena, trace.arena_size);
    index_of[0] = 0;
    for (unsigned i = 0; i < EACH; i++) {
        trace.created[i] = trace.joined[i] = false;
        sem_init(&semaphores[i], 0, 0);
        onces[i] = (pthread_once_t)PTHREAD_ONCE_INIT;
    }
    order_begin();
    uint32_t world = dh_slots_generation ? dh_slots_generation() : 0, shared = dh_slots_merged ? dh_slots_merged() : 0;
    run_ops(0);
    wait_until(&turn, trace.n_ops);
    if (dh_slots_generation && (world != dh_slots_generation() || shared != dh_slots_merged()))
        say('W', NULL, 0);
    for (unsigned i = 1; i < trace.n_threads; i++)
        if (trace.created[i] && !trace.joined[i])
            pthread_join(threads[i], NULL);
    say('E', NULL, 0);
    flush();
    trace.n_ops = 0;
    if (!arena)
        free(trace.arena);
}

/* ---- input ---- */

static uint64_t number(const char **at, const char *end)
{
    uint64_t n = 0;
    while (*at < end && (**at < '0' || **at > '9'))
        ++*at;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        n = n * 10 + (uint64_t)(**at - '0');
    return n;
}

static bool take(const char **at, const char *end)
{
    trace.n_threads = (unsigned)number(at, end);
    trace.n_ops = (unsigned)number(at, end);
    unsigned arena = (unsigned)number(at, end);
    trace.arena_size = (unsigned)number(at, end);
    if (!trace.n_threads)
        return false;
    if (trace.n_threads > THREADS || trace.n_ops > OPS)
        abort();
    for (unsigned i = 0; i < trace.n_ops; i++) {
        struct op *o = &trace.op[i];
        unsigned *fields[] = {&o->thread, &o->operation, &o->object, &o->offset, &o->other, &o->other_offset};
        for (unsigned f = 0; f < 6; f++)
            *fields[f] = (unsigned)number(at, end);
        o->value = number(at, end);
        o->group = (unsigned)number(at, end);
        o->position = (unsigned)number(at, end);
        if (o->thread >= trace.n_threads || o->operation >= n_operations)
            abort();
    }
    run(arena);
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        for (unsigned i = 0; i < n_operations; i++)
            puts(operations[i].name);
        fflush(stdout);
        _exit(0);
    }
    struct stat s;
    int fd = open(argv[1], O_RDONLY);
    if (fd < 0 || fstat(fd, &s) != 0)
        return 2;
    const char *at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0), *end = at + s.st_size;
    if (at == MAP_FAILED)
        return 2;
    make_objects();
    while (take(&at, end))
        ;
    _exit(0); /* whatever the exit code for findings is */
}
