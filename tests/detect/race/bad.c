/* The reader looks at the message as soon as it is announced, but the announcement orders nothing: it is relaxed.
 * Expected: race observed at `fill` and `look`. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int message;
static atomic_int announced;

static void *writer(void *arg)
{
    message = 42; /* fill */
    atomic_store_explicit(&announced, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    while (!atomic_load_explicit(&announced, memory_order_relaxed))
        ;
    printf("%d\n", message); /* look */
    pthread_join(t, NULL);
    return 0;
}
