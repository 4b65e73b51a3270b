/* The twin of bad.c: the announcement is released, and acquired by who waits for it, so that the message comes first.
 * Expected: nothing. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int message;
static atomic_int announced;

static void *writer(void *arg)
{
    message = 42; /* fill */
    atomic_store_explicit(&announced, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    while (!atomic_load_explicit(&announced, memory_order_acquire))
        ;
    printf("%d\n", message); /* look */
    pthread_join(t, NULL);
    return 0;
}
