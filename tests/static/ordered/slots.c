/* A ring of values between two POSIX semaphores, one producer and one consumer.
 * BROKEN 1: the consumer does not wait. 2: it says that there is room before it has read. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
enum { SIZE = 4 };
static sem_t room, filled;
static int ring[SIZE];

static void *producer(void *arg)
{
    (void)arg;
    for (int n = 0; n < 100; n++) {
        sem_wait(&room);
        ring[n % SIZE] = n;
        sem_post(&filled);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    long sum = 0;
    sem_init(&room, 0, SIZE);
    sem_init(&filled, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    for (int n = 0; n < 100; n++) {
#if BROKEN != 1
        sem_wait(&filled);
#endif
#if BROKEN == 2
        sem_post(&room);
        sum += ring[n % SIZE];
#else
        sum += ring[n % SIZE];
        sem_post(&room);
#endif
    }
    pthread_join(thread, NULL);
    printf("%ld\n", sum);
    return 0;
}
