/* A message that is published without order: who sees the flag may not see the message. With -DORDERED it does. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef ORDERED
#define SET memory_order_release
#define GET memory_order_acquire
#else
#define SET memory_order_relaxed
#define GET memory_order_relaxed
#endif

static int message;
static atomic_int flag;

static void *writer(void *unused)
{
    message = 42;
    atomic_store_explicit(&flag, 1, SET);
    return unused;
}

static void *reader(void *unused)
{
    while (!atomic_load_explicit(&flag, GET))
        ;
    if (message != 42)
        abort();
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("ok");
    return 0;
}
