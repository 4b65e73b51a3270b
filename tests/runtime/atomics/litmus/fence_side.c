// A fence on the wrong side of the flag publishes nothing, and takes nothing.
// TSAN: fences
// WRONG: data -DSTORE_FIRST
// WRONG: data -DFENCE_FIRST
#include "litmus.h"

static int data;
static atomic_int ready;

static void *writer(void *arg)
{
    (void)arg;
    data = 7;
#ifdef STORE_FIRST
    STORE(ready, 1, relaxed);
    FENCE(release);
#else
    FENCE(release);
    STORE(ready, 1, relaxed);
#endif
    invisible_reach(1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
#ifdef FENCE_FIRST
    FENCE(acquire);
    while (!LOAD(ready, relaxed))
        ;
#else
    while (!LOAD(ready, relaxed))
        ;
    FENCE(acquire);
#endif
    printf("%d\n", data);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
