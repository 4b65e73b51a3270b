// Arithmetic of the compiler's own on atomic floating point: half, float, double, quad; infinities and no numbers.
// FLAGS: -pthread -latomic
// RIGHT: -mcx16
#include <math.h>
#include <pthread.h>
#include <stdio.h>

static _Float16 half = 1;
static float single = 1;
static double wide = 1;
static _Atomic __float128 quad = 1;
static _Atomic long double extended = 1;
static double sum;
static float largest = -INFINITY, smallest = INFINITY;

static void *worker(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        __atomic_fetch_add(&sum, 0.5, __ATOMIC_RELAXED);
        __atomic_fetch_max(&largest, (float)(i ^ 1) + *(float *)arg, __ATOMIC_ACQ_REL);
        __atomic_fetch_min(&smallest, -(float)i, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

int main(void)
{
    printf("%g ", (double)__atomic_fetch_add(&half, (_Float16)0.5, __ATOMIC_RELAXED));
    printf("%g ", (double)__atomic_fetch_sub(&half, (_Float16)4, __ATOMIC_SEQ_CST));
    printf("%g\n", (double)half);
    printf("%g ", (double)__atomic_fetch_add(&single, 1e30f, __ATOMIC_ACQUIRE));
    printf("%g ", (double)__atomic_fetch_sub(&single, INFINITY, __ATOMIC_RELEASE));
    printf("%g ", (double)__atomic_fetch_max(&single, 3.f, __ATOMIC_ACQ_REL));
    printf("%g ", (double)__atomic_fetch_min(&single, NAN, __ATOMIC_RELAXED));
    printf("%g\n", (double)single);
    printf("%g ", __atomic_fetch_add(&wide, 1e-17, __ATOMIC_CONSUME));
    printf("%g ", __atomic_fetch_min(&wide, -2.0, __ATOMIC_SEQ_CST));
    printf("%g ", __atomic_fetch_max(&wide, -1.0, __ATOMIC_SEQ_CST));
    printf("%g\n", wide);
    quad += 0.25Q;
    quad *= 2;
    extended /= 3;
    extended += 1;
    printf("%g %Lg\n", (double)quad, (long double)extended);
    pthread_t t[3];
    float offset[3] = {0, 0.25f, 0.5f};
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, &offset[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%g %g %g\n", sum, (double)largest, (double)smallest);
    return 0;
}
