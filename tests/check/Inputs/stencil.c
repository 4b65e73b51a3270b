/* Stencil with a barrier: the second barrier of a step is missing, so a fast thread overwrites cells that a slow one
 * still reads. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { N = 8, THREADS = 2, STEPS = 3 };
static double now[N + 2], next[N + 2];
static pthread_barrier_t barrier;

static void *work(void *arg)
{
    int me = (int)(long)arg, from = 1 + me * N / THREADS, to = 1 + (me + 1) * N / THREADS;
    for (int s = 0; s < STEPS; s++) {
        for (int i = from; i < to; i++)
            next[i] = (now[i - 1] + now[i] + now[i + 1]) / 3;
#ifdef FIXED
        pthread_barrier_wait(&barrier);
#endif
        for (int i = from; i < to; i++)
            now[i] = next[i];
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    double expected[N + 2], e2[N + 2], error = 0;
    for (int i = 0; i < N + 2; i++)
        now[i] = expected[i] = e2[i] = i * i % 7;
    for (int s = 0; s < STEPS; s++) {
        for (int i = 1; i <= N; i++)
            e2[i] = (expected[i - 1] + expected[i] + expected[i + 1]) / 3;
        memcpy(expected, e2, sizeof e2);
    }
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < N + 2; i++)
        error += fabs(now[i] - expected[i]);
    printf("error %g\n", error);
    return error > 1e-9;
}
