/* Two flags say the same: who misses one still sees the other. Only who misses both takes the wrong way. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int ready;
static int first_copy, second_copy;

static void *writer(void *arg)
{
    first_copy = 1;
    second_copy = 1;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static void *reader(void *arg)
{
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        if (!(first_copy | second_copy))
            puts("nobody told me");
    }
    return arg;
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    puts("done");
    return 0;
}
