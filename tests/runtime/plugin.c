/* An instrumented shared library: everything hidden but two functions. */
#include "by_hand.h"

#include <pthread.h>

__attribute__((visibility("default"))) int plugin_call(int (*back)(int), int value);
__attribute__((visibility("default"))) int plugin_thread(void);
__attribute__((visibility("default"))) uint32_t plugin_early_depth;

/* Runs before the shim is connected or after it: neither may disturb anything. */
__attribute__((constructor(101))) static void early(void)
{
    ENTER;
    plugin_early_depth = dh_depth;
    LEAVE;
}

NOINLINE int plugin_call(int (*back)(int), int value)
{
    ENTER;
    uint32_t four = 4;
    __dh_write4(&four, 4, 0);
    __dh_store1(&four, 200, 0, 0);
    CHECK(__dh_load4(&four, 0, 0) == 200 && __dh_load1(&four, 0, 0) == 200);
    int result = back ? back(value) : value;
    LEAVE;
    return result;
}

static void *routine(void *arg)
{
    ENTER;
    LEAVE;
    return arg;
}

NOINLINE int plugin_thread(void)
{
    ENTER;
    pthread_t t;
    int result = pthread_create(&t, NULL, routine, NULL);
    if (result == 0)
        pthread_join(t, NULL);
    LEAVE;
    return result;
}
