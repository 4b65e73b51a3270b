/* Performs traces exactly as written: every thread of a trace is a thread, and calls the hooks that instrumented code
 * would call; whose turn it is goes from one to the next without the detector's knowledge. Not instrumented itself.
 *
 * Input: lines "trace THREADS VARIABLES", "size BYTES..." and "THREAD KIND VARIABLE ORDER FAILURE" until "end".
 * Output: for each trace one line with the variables on which dh_report was called, which is caught before it prints.
 */
#include "event/hooks.h"
#include "event/site.h"
#include "runtime/report/report.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_THREADS = 8, MOST_EVENTS = 256, MOST_VARIABLES = 16, ROOM = 64 };

const char __dh_variant[] = "race";

struct event {
    unsigned thread, variable, order, failure;
    char kind;
};

static struct {
    unsigned n_threads, n_variables, n_events, size[MOST_VARIABLES];
    struct event event[MOST_EVENTS];
    char *memory; /* fresh for each trace: nothing of the one before counts */
    unsigned place;
    unsigned raced; /* a bit per variable */
} trace;
static unsigned turn;

static unsigned char *address(unsigned variable)
{
    return (unsigned char *)trace.memory + variable * ROOM;
}

void __wrap_dh_report(const struct dh_report *r);
void __wrap_dh_report(const struct dh_report *r)
{
    for (unsigned v = 0; v < trace.n_variables; v++)
        if (r->addr >= (uintptr_t)address(v) && r->addr < (uintptr_t)address(v) + trace.size[v])
            __atomic_fetch_or(&trace.raced, 1u << v, __ATOMIC_RELAXED);
}

/* ---- one event ---- */

#define EACH_SIZE(DO) DO(1, uint8_t) DO(2, uint16_t) DO(4, uint32_t) DO(8, uint64_t) DO(16, dh_u128)

static void plain(const struct event *e, void *at, unsigned size, uint32_t place)
{
    switch (size) {
#define PLAIN(n, type)                                                                                                 \
    case n:                                                                                                            \
        if (e->kind == 'r')                                                                                            \
            __dh_read##n(at, place);                                                                                   \
        else                                                                                                           \
            PLAIN_WRITE_##n(n, at, place);                                                                             \
        break;
#define PLAIN_WRITE(n, at, place) __dh_write##n(at, 1, place)
#define PLAIN_WRITE_1 PLAIN_WRITE
#define PLAIN_WRITE_2 PLAIN_WRITE
#define PLAIN_WRITE_4 PLAIN_WRITE
#define PLAIN_WRITE_8 PLAIN_WRITE
#define PLAIN_WRITE_16(n, at, place) __dh_write16(at, place)
        EACH_SIZE(PLAIN)
    }
}

static void atomic(const struct event *e, void *at, unsigned size, uint32_t place)
{
    uint32_t rest = e->order << 8 | size << 16;
    switch (size) {
#define ATOMIC(n, type)                                                                                                \
    case n:                                                                                                            \
        if (e->kind == 'L')                                                                                            \
            __dh_atomic_load##n(at, DH_OP_ATOMIC_LOAD | rest, place);                                                  \
        else if (e->kind == 'S')                                                                                       \
            __dh_atomic_store##n(at, 1, DH_OP_ATOMIC_STORE | rest, place);                                             \
        else if (e->kind == 'A')                                                                                       \
            __dh_atomic_rmw##n(at, 1, DH_OP_ATOMIC_RMW | rest, DH_RMW_ADD, place);                                     \
        else {                                                                                                         \
            type now = *(volatile type *)at, expected = e->kind == 'C' ? now : (type)(now + 1);                        \
            __dh_atomic_cas##n(at, expected, 7, DH_OP_ATOMIC_CAS | rest, e->failure, place);                           \
        }                                                                                                              \
        break;
        EACH_SIZE(ATOMIC)
    }
}

static void perform(const struct event *e)
{
    uint32_t place = trace.place + (uint32_t)(e - trace.event);
    if (e->kind == 'F')
        __dh_fence(DH_OP_FENCE | e->order << 8, place);
    else if (e->kind == 'r' || e->kind == 'w')
        plain(e, address(e->variable), trace.size[e->variable], place);
    else
        atomic(e, address(e->variable), trace.size[e->variable], place);
}

/* ---- turns ---- */

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

static void wait_for_turn(unsigned mine)
{
    for (unsigned now; (now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != mine;)
        futex(&turn, WAIT, now);
}

static void *thread(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    for (unsigned i = 0; i < trace.n_events; i++) {
        if (trace.event[i].thread != me)
            continue;
        wait_for_turn(i);
        perform(&trace.event[i]);
        __atomic_store_n(&turn, i + 1, __ATOMIC_RELEASE);
        futex(&turn, WAKE, 1u << 30);
    }
    return NULL;
}

static void run(void)
{
    pthread_t t[MOST_THREADS];
    trace.raced = turn = 0;
    trace.memory = aligned_alloc(ROOM, MOST_VARIABLES * ROOM);
    if (!trace.memory)
        abort();
    memset(trace.memory, 0, MOST_VARIABLES * ROOM);
    for (uintptr_t i = 0; i < trace.n_threads; i++)
        if (pthread_create(&t[i], NULL, thread, (void *)i) != 0)
            abort();
    for (unsigned i = 0; i < trace.n_threads; i++)
        pthread_join(t[i], NULL);
    for (unsigned v = 0; v < trace.n_variables; v++)
        if (trace.raced >> v & 1)
            printf("%u ", v);
    printf("\n");
    trace.place += trace.n_events;
    trace.n_events = 0;
}

/* ---- input ---- */

static void take(char *line)
{
    struct event *e = &trace.event[trace.n_events];
    if (!strncmp(line, "end", 3))
        run();
    else if (!strncmp(line, "size", 4)) {
        char *at = line + 4;
        for (unsigned v = 0; v < trace.n_variables; v++)
            trace.size[v] = (unsigned)strtoul(at, &at, 10);
    } else if (sscanf(line, "trace %u %u", &trace.n_threads, &trace.n_variables) == 2) {
        if (trace.n_threads > MOST_THREADS || trace.n_variables > MOST_VARIABLES)
            abort();
    } else if (sscanf(line, "%u %c %u %u %u", &e->thread, &e->kind, &e->variable, &e->order, &e->failure) == 5) {
        if (++trace.n_events == MOST_EVENTS)
            abort();
    }
}

int main(int argc, char **argv)
{
    char line[256];
    FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!in)
        return 2;
    while (fgets(line, sizeof line, in))
        take(line);
    fclose(in);
    fflush(stdout);
    _exit(0); /* whatever the exit code for findings is */
}
