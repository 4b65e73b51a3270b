/* Threads write into one log in turns. BROKEN 1: one does not wait for its turn. */
#include <pthread.h>
#include <stdio.h>
enum { N = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
static int turn;
static char text[256];
static int used;

static void *writer(void *arg)
{
    int me = (int)(long)arg;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
#if BROKEN != 1
        while (turn != me)
            pthread_cond_wait(&next, &lock);
#endif
        pthread_mutex_unlock(&lock);
        used += snprintf(text + used, sizeof text - (size_t)used, "%d ", me);
        pthread_mutex_lock(&lock);
        turn = (turn + 1) % N;
        pthread_cond_broadcast(&next);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, writer, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    puts(text);
    return 0;
}
