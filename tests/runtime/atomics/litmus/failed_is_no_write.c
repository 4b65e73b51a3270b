// A compare-exchange that fails writes nothing: it neither publishes nor ends a release sequence.
// WRONG: own -DTOOK_OWN
#include "litmus.h"

static int data, own;
static atomic_int state;

static void *writer(void *arg)
{
    (void)arg;
    data = 3;
    STORE(state, 1, release);
    invisible_reach(1);
    return NULL;
}

static void *bystander(void *arg)
{
    (void)arg;
    invisible_await(1);
    own = 4;
    int expected = 0;
    atomic_compare_exchange_strong_explicit(&state, &expected, 2, acq_rel, relaxed);
    invisible_reach(2);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(2);
    if (LOAD(state, acquire) == 1)
        printf("%d\n", data);
#ifdef TOOK_OWN
    printf("%d\n", own);
#endif
    return NULL;
}

int main(void)
{
    TOGETHER(writer, bystander, reader);
    return 0;
}
