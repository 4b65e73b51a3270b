// suspect: share
// Each worker adds up in an array of its own, found by its number, and moves its own block; broken: the array of number 0.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define WORKERS 4
#define SIZE 1000

static double *shares[WORKERS], place[SIZE];

static void add_up(double *share)
{
    for (int i = 0; i < SIZE; i++)
        share[i] += place[i];
}

static void move(int low, int high)
{
    for (int i = low; i < high; i++)
        place[i] += 1;
}

static void *mover(void *arg)
{
    int id = (int)(intptr_t)arg;
    move(SIZE * id / WORKERS, SIZE * (id + 1) / WORKERS);
    return 0;
}

static void *adder(void *arg)
{
    int id = (int)(intptr_t)arg;
#ifdef BROKEN
    (void)id;
    add_up(shares[0]);
#else
    add_up(shares[id]);
#endif
    return 0;
}

int main(void)
{
    pthread_t m[WORKERS], a[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        shares[i] = calloc(SIZE, sizeof **shares);
        pthread_create(&m[i], 0, mover, (void *)(intptr_t)i);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(m[i], 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&a[i], 0, adder, (void *)(intptr_t)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(a[i], 0);
    return 0;
}
