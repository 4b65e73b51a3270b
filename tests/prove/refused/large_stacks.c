/* Eight threads with stacks of 64 MB, of which they use half. Hosted. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, STACK = 64 << 20 };
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    volatile char large[STACK / 2];
    for (unsigned i = 0; i < sizeof large; i += 4096)
        large[i] = 1;
    pthread_mutex_lock(&lock);
    shared += large[4096];
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, STACK);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], &a, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    puts("done");
    return 0;
}
