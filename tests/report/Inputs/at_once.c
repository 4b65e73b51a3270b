/* Many threads find a race each at the same moment, and the process ends while most of them wait for their turn. */
#include "order.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define N 12
static volatile int v[N];
static pthread_barrier_t b;
#define RACER(n)                                                                                                       \
    static void *racer##n(void *x)                                                                                     \
    {                                                                                                                  \
        pthread_barrier_wait(&b);                                                                                      \
        wait_step(N);                                                                                                  \
        step_done(n);                                                                                                  \
        v[n] = 2;                                                                                                      \
        pause();                                                                                                       \
        return x;                                                                                                      \
    }
RACER(0)
RACER(1) RACER(2) RACER(3) RACER(4) RACER(5) RACER(6) RACER(7) RACER(8) RACER(9) RACER(10) RACER(11) int main(void)
{
    static void *(*const r[N])(void *) = {racer0, racer1, racer2, racer3, racer4,  racer5,
                                          racer6, racer7, racer8, racer9, racer10, racer11};
    pthread_t t;
    pthread_barrier_init(&b, NULL, N + 1);
    for (int i = 0; i < N; i++)
        pthread_create(&t, NULL, r[i], NULL);
    pthread_barrier_wait(&b);
    for (int i = 0; i < N; i++)
        v[i] = 1;
    step_done(N);
    for (int i = 0; i < N; i++)
        wait_step(i);
    usleep(300000); /* so that those that are about to write do */
    exit(0);
}
