/* Constructors, a library's constructor and another pre-initialiser create threads: the runtime was there first. */
#include "by_hand.h"

#include "runtime/core/start.h"
#include "runtime/core/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_bool named; /* the kernel forgets a thread that has ended, and its name */

static void *routine(void *arg)
{
    ENTER;
    while (!atomic_load(&named))
        sched_yield();
    LEAVE;
    return arg;
}

static void create(const char *name)
{
    pthread_t t;
    atomic_store(&named, false);
    CHECK(pthread_create(&t, NULL, routine, NULL) == 0);
    pthread_setname_np(t, name);
    atomic_store(&named, true);
    CHECK(pthread_join(t, NULL) == 0);
}

static void pre_initialiser(void)
{
    ENTER;
    create("preinit");
    LEAVE;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = pre_initialiser;

__attribute__((constructor(101))) static void constructor(void)
{
    CHECK(dh_process.started);
    create("constructor");
}

__attribute__((destructor)) static void destructor(void)
{
    create("destructor");
}

static int plain(void)
{
    return 5;
}

/* Hooks before anything is relocated or started. */
static int (*resolve(void))(void)
{
    uint32_t depth = __dh_enter(__builtin_frame_address(0), __builtin_return_address(0));
    __dh_leave(depth);
    return plain;
}

int resolved(void) __attribute__((ifunc("resolve")));

int main(void)
{
    CHECK(resolved() == 5);
    CHECK(__dh_thread.depth == 0);
    return 0;
}
