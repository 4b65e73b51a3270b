/* Does its work, says so, and waits to be killed: all of it must be in the trace, the last accesses, too. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count;
volatile long last[500];

static void *worker(void *unused)
{
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&mutex);
        count++;
        pthread_mutex_unlock(&mutex);
    }
    write(1, "done\n", 5);
    for (int i = 0; i < 500; i++)
        last[i] = i;
    for (;;)
        pause();
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    return 0;
}
