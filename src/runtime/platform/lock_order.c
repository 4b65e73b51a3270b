#include "runtime/platform/lock_order.h"

#ifdef DH_CHECK_LOCK_ORDER

#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

#include <signal.h>
#include <stdint.h>

enum { DEPTH = 16 };

/* Held by the calling thread, in the order of acquisition. */
static __thread struct {
    uint32_t n;
    int rank[DEPTH];
} held;

static void fail(const char *what, int rank, int other)
{
    dh_print_stderr("deadheat: lock order: %s rank %d, held: rank %d\n", what, rank, other);
    dh_syscall3(SYS_tgkill, dh_sys_getpid(), dh_sys_gettid(), SIGABRT);
}

void dh_lock_order_acquire(int rank)
{
    for (uint32_t i = 0; i < held.n && i < DEPTH; i++)
        if (held.rank[i] >= rank)
            fail("acquires", rank, held.rank[i]);
    if (held.n < DEPTH)
        held.rank[held.n] = rank;
    held.n++;
}

void dh_lock_order_release(int rank)
{
    for (uint32_t i = held.n; i-- > 0;)
        if (held.rank[i] == rank) {
            for (held.n--; i < held.n; i++)
                held.rank[i] = held.rank[i + 1];
            return;
        }
    fail("releases without holding", rank, held.n ? held.rank[held.n - 1] : -2);
}

#else
typedef int dh_lock_order_is_not_checked;
#endif
