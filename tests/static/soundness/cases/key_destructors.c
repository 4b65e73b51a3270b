/* A destructor of thread-specific data is registered once and runs in every thread that ends. finds: race */
#include "order.h"

#include <pthread.h>
#include <stdio.h>

static pthread_key_t key;
static long total;

static void add_up(void *mine)
{
    if (mine == &key)
        await_turn(1);
    long seen = total;
    if (mine == &key)
        printf("%ld\n", seen);
    else
        total = seen + 1;
    give_turn(1);
}

static void *worker(void *mine)
{
    pthread_setspecific(key, mine);
    return NULL;
}

int main(void)
{
    static int other;
    pthread_t first, second;
    pthread_key_create(&key, add_up);
    pthread_create(&first, NULL, worker, &key);
    pthread_create(&second, NULL, worker, &other);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
