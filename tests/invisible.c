/* Compiled by the plain compiler. */
#include "invisible.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>

static int now, here;

static long call(long number, long a, long b, long c)
{
    register long fourth __asm__("r10") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

static long futex(int *word, int operation, int value)
{
    return call(SYS_futex, (long)word, operation, value);
}

enum { WAIT = 0 | 128, WAKE = 1 | 128, EVERYBODY = 1 << 30 };

void invisible_await(int step)
{
    for (int seen; (seen = __atomic_load_n(&now, __ATOMIC_ACQUIRE)) < step;)
        futex(&now, WAIT, seen);
}

void invisible_reach(int step)
{
    int seen = __atomic_load_n(&now, __ATOMIC_RELAXED);
    while (seen < step && !__atomic_compare_exchange_n(&now, &seen, step, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    futex(&now, WAKE, EVERYBODY);
}

void invisible_here(void)
{
    __atomic_store_n(&here, (int)call(SYS_gettid, 0, 0, 0), __ATOMIC_RELEASE);
}

static void add(char **to, const char *text)
{
    while (*text)
        *(*to)++ = *text++;
}

/* Its state as the kernel has it, 'S' for one that waits; 0 for none. */
static char state_of(int thread)
{
    char path[64], digits[16], said[128], *end = path, *d = digits + sizeof digits - 1, state = 0;
    for (*d = 0; thread; thread /= 10)
        *--d = (char)('0' + thread % 10);
    add(&end, "/proc/self/task/");
    add(&end, d);
    add(&end, "/stat");
    *end = 0;
    long file = call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    long n = file < 0 ? 0 : call(SYS_read, file, (long)said, sizeof said);
    for (long i = 0; i + 2 < n; i++) /* behind the name, which may hold anything */
        if (said[i] == ')')
            state = said[i + 2];
    if (file >= 0)
        call(SYS_close, file, 0, 0);
    return state;
}

void invisible_await_waiting(void)
{
    int thread;
    while (!(thread = __atomic_load_n(&here, __ATOMIC_ACQUIRE)) || state_of(thread) != 'S')
        call(SYS_sched_yield, 0, 0, 0);
}
