// A fence against signal handlers orders nothing between threads.
// TSAN: fences
// WRONG: data -DBEFORE=atomic_signal_fence
// WRONG: data -DAFTER=atomic_signal_fence
#include "litmus.h"
#ifndef BEFORE
#define BEFORE atomic_thread_fence
#endif
#ifndef AFTER
#define AFTER atomic_thread_fence
#endif

static int data;
static atomic_int ready;

static void *writer(void *arg)
{
    (void)arg;
    data = 2;
    BEFORE(release);
    STORE(ready, 1, relaxed);
    invisible_reach(1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    while (!LOAD(ready, relaxed))
        ;
    AFTER(acquire);
    printf("%d\n", data);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
