// What is written after the release fence is not published by it.
// TSAN: fences
// WRONG: late -DLATE
#include "litmus.h"

static int early, late;
static atomic_int ready;

static void *writer(void *arg)
{
    (void)arg;
    early = 1;
#ifndef LATE
    late = 2;
#endif
    FENCE(release);
#ifdef LATE
    late = 2;
#endif
    STORE(ready, 1, relaxed);
    invisible_reach(1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    if (LOAD(ready, acquire))
        printf("%d %d\n", early, late);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
