/* Two threads do long work under one lock, then race on one element after the other, and meet at a barrier after each:
 * a schedule that leads to the last race has all the others on its way. */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 700, ELEMENTS = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static int work, first, second, third, fourth, fifth, sixth;

static void do_work(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        work++;
        pthread_mutex_unlock(&lock);
    }
}

static void *racer(void *unused)
{
    do_work();
    pthread_barrier_wait(&together);
    first++;
    pthread_barrier_wait(&together);
    second++;
    pthread_barrier_wait(&together);
    third++;
    pthread_barrier_wait(&together);
    fourth++;
    pthread_barrier_wait(&together);
    fifth++;
    pthread_barrier_wait(&together);
    sixth++;
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_barrier_init(&together, NULL, 2);
    pthread_create(&one, NULL, racer, NULL);
    pthread_create(&other, NULL, racer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return first + second + third + fourth + fifth + sixth > 2 * ELEMENTS;
}
