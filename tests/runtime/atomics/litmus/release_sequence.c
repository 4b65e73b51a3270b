// Relaxed read-modify-writes of other threads go on with the sequence that a release store began; stores end it.
// RIGHT: -DTAKE_FENCE
// WRONG: data -DHEAD=relaxed
// WRONG: data -DTAKE=relaxed
// WRONG: data -DMIDDLE_STORES
#include "litmus.h"
#ifndef HEAD
#define HEAD release
#endif
#ifndef TAKE
#define TAKE acquire
#endif

static int data;
static atomic_int count;

static void *writer(void *arg)
{
    (void)arg;
    data = 5;
    STORE(count, 1, HEAD);
    invisible_reach(1);
    return NULL;
}

static void *adder(void *arg)
{
    invisible_await((int)(uintptr_t)arg);
#ifdef MIDDLE_STORES
    STORE(count, LOAD(count, relaxed) + 1, relaxed);
#else
    ADD(count, 1, relaxed);
#endif
    invisible_reach((int)(uintptr_t)arg + 1);
    return NULL;
}

static void *swapper(void *arg)
{
    invisible_await((int)(uintptr_t)arg);
    int two = 2;
    atomic_compare_exchange_strong_explicit(&count, &two, 3, relaxed, relaxed);
    invisible_reach((int)(uintptr_t)arg + 1);
    return NULL;
}

static void *reader(void *arg)
{
    invisible_await((int)(uintptr_t)arg);
#ifdef TAKE_FENCE
    int seen = LOAD(count, relaxed);
    FENCE(acquire);
#else
    int seen = LOAD(count, TAKE);
#endif
    if (seen == 3)
        printf("%d\n", data);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, adder, swapper, reader);
    return 0;
}
