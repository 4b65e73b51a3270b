// One variable, plain and atomic: two atomics never race, two reads neither, everything else does.
// RIGHT: -DFIRST=read_plain -DSECOND=read_atomic
// RIGHT: -DFIRST=add_atomic -DSECOND=read_atomic
// RIGHT: -DFIRST=fail_exchange -DSECOND=read_plain
// WRONG: shared -DFIRST=write_plain -DSECOND=read_atomic
// WRONG: shared -DFIRST=read_plain -DSECOND=write_atomic
// WRONG: shared -DFIRST=write_atomic -DSECOND=read_plain
// WRONG: shared -DFIRST=read_atomic -DSECOND=write_plain
// WRONG: shared -DFIRST=add_atomic -DSECOND=write_plain
// WRONG: shared -DFIRST=write_plain -DSECOND=add_atomic
// WRONG: shared -DFIRST=write_plain -DSECOND=fail_exchange
// WRONG: shared -DFIRST=add_atomic -DSECOND=read_plain
#include "litmus.h"
#ifndef FIRST
#define FIRST write_atomic
#define SECOND read_atomic
#endif

static int shared;
static int value = 1; /* not known to the compiler */

static __attribute__((unused)) void write_plain(void)
{
    shared = value;
}

static __attribute__((unused)) void read_plain(void)
{
    printf("%d\n", shared > 50);
}

static __attribute__((unused)) void write_atomic(void)
{
    __atomic_store_n(&shared, value, __ATOMIC_RELAXED);
}

static __attribute__((unused)) void read_atomic(void)
{
    printf("%d\n", __atomic_load_n(&shared, __ATOMIC_RELAXED) > 50);
}

static __attribute__((unused)) void add_atomic(void)
{
    __atomic_fetch_add(&shared, value, __ATOMIC_RELAXED);
}

static __attribute__((unused)) void fail_exchange(void)
{
    int wrong = 77;
    __atomic_compare_exchange_n(&shared, &wrong, 78, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void *first(void *arg)
{
    (void)arg;
    FIRST();
    invisible_reach(1);
    return NULL;
}

static void *second(void *arg)
{
    (void)arg;
    invisible_await(1);
    SECOND();
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argv;
    value = argc;
    TOGETHER(first, second);
    puts("done");
    return 0;
}
