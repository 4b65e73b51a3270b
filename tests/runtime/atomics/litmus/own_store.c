// A relaxed store ends the release sequence, even by the thread that began it (since C++20).
// RIGHT: -DSECOND_FENCED
// WRONG: data -DSECOND_STORED
#include "litmus.h"

static int data;
static atomic_int flag;

static void *writer(void *arg)
{
    (void)arg;
    data = 9;
    STORE(flag, 1, release);
#if defined SECOND_STORED
    STORE(flag, 2, relaxed);
#elif defined SECOND_FENCED
    FENCE(release);
    STORE(flag, 2, relaxed);
#else
    ADD(flag, 1, relaxed);
#endif
    invisible_reach(1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    if (LOAD(flag, acquire) == 2)
        printf("%d\n", data);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
