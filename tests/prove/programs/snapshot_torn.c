/* Two halves of a number are written one after the other; who reads in between has half of the new one.
 * Expected: assertion at `whole`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

#ifdef FIXED
static atomic_ullong both;
#else
static atomic_uint high, low;
#endif

static void *writer(void *arg)
{
#ifdef FIXED
    both = 1ull << 32 | 1;
#else
    low = 1;
    high = 1;
#endif
    return arg;
}

static void *reader(void *arg)
{
#ifdef FIXED
    unsigned long long n = both;
    unsigned h = n >> 32, l = (unsigned)n;
#else
    unsigned h = high, l = low;
#endif
    assert(h == l); /* whole */
    return arg;
}

int main(void)
{
    RUN(writer, reader);
    return 0;
}
