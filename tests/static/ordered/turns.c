/* Tickets: who has the number that is called may go on. BROKEN 1: does not wait for its number. 2: calls the next one too early. */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static unsigned next_ticket, serving;
static long book[4];

static void enter(void)
{
    pthread_mutex_lock(&lock);
    unsigned mine = next_ticket++;
#if BROKEN != 1
    while (serving != mine)
        pthread_cond_wait(&called, &lock);
#else
    (void)mine;
#endif
    pthread_mutex_unlock(&lock);
}

static void leave(void)
{
    pthread_mutex_lock(&lock);
    serving++;
    pthread_cond_broadcast(&called);
    pthread_mutex_unlock(&lock);
}

static void *clerk(void *arg)
{
    for (int i = 0; i < 100; i++) {
        enter();
#if BROKEN == 2
        leave();
        book[i % 4] += (long)arg;
#else
        book[i % 4] += (long)arg;
        leave();
#endif
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, clerk, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%ld\n", book[0]);
    return 0;
}
