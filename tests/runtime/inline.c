/* The inlined fast paths and the runtime's own must agree on one stack. */
#include "by_hand.h"

#include "runtime/core/thread_state.h"

#include <pthread.h>

uint32_t outside_depth(void); /* compiled without inlining */

#define NOINLINE_ARGUMENTS __attribute__((noinline))

NOINLINE_ARGUMENTS static int many(int a, int b, int c, int d, int e, int f, double g, double h)
{
    ENTER;
    int sum = a + b + c + d + e + f + (int)(g * h);
    CHECK(outside_depth() == dh_depth + 2);
    LEAVE;
    return sum;
}

static void *routine(void *arg)
{
    ENTER;
    CHECK(dh_depth == 0 && many(1, 2, 3, 4, 5, 6, 7, 8) == 77);
    LEAVE;
    return arg;
}

NOINLINE static int deep(int n)
{
    ENTER;
    int sum = many(n, 2, 3, 4, 5, 6, 7, 8) + (n ? deep(n - 1) : 0); /* blocks grow on the way */
    LEAVE;
    return sum;
}

int main(void)
{
    ENTER;
    pthread_t t;
    CHECK(many(1, 2, 3, 4, 5, 6, 7, 8) == 77);
    CHECK(deep(3000) == 3001 * 76 + 3000 * 3001 / 2);
    CHECK(pthread_create(&t, NULL, routine, NULL) == 0 && pthread_join(t, NULL) == 0);
    LEAVE;
    return 0;
}
