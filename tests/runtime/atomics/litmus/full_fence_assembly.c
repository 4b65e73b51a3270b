// Fences written as inline assembly are fences; a barrier for the compiler alone is none.
// TSAN: fences
// RIGHT: -DBARRIER='"lock; addl $0, 0(%%rsp)"'
// WRONG: data -DBARRIER='""'
#include "litmus.h"
#ifndef BARRIER
#define BARRIER "mfence"
#endif

static int data;
static atomic_int ready;

static void *writer(void *arg)
{
    (void)arg;
    data = 2;
    __asm__ volatile(BARRIER ::: "memory", "cc");
    STORE(ready, 1, relaxed);
    invisible_reach(1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    while (!LOAD(ready, relaxed))
        __asm__ volatile("pause" ::: "memory");
    __asm__ volatile(BARRIER ::: "memory", "cc");
    printf("%d\n", data);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
