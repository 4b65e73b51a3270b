/* A POSIX semaphore as a lock. BROKEN 1: it lets two in. 2: one does not ask. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static sem_t one;
static struct { long sum; int n; } log_of;

static void add(long value)
{
    sem_wait(&one);
    log_of.sum += value;
    log_of.n++;
    sem_post(&one);
}

static void *clerk(void *arg)
{
    for (int i = 0; i < 100; i++)
        add((long)arg);
    return NULL;
}

static void *auditor(void *arg)
{
    (void)arg;
#if BROKEN != 2
    sem_wait(&one);
#endif
    printf("%ld\n", log_of.sum / (log_of.n + 1));
#if BROKEN != 2
    sem_post(&one);
#endif
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    sem_init(&one, 0, BROKEN == 1 ? 2 : 1);
    pthread_create(&a, NULL, clerk, (void *)1);
    pthread_create(&b, NULL, clerk, (void *)2);
    pthread_create(&c, NULL, auditor, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    printf("%ld\n", log_of.sum);
    return 0;
}
