/* A divisor is set by one and used by another thread, which does not wait for it: the sanitizer says what is wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int ready;
static int shift = 40, result;

static void *writer(void *arg)
{
    shift = 4;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static void *reader(void *arg)
{
    if (atomic_load_explicit(&ready, memory_order_relaxed))
        result = 1 << shift;
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
