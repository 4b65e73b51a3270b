// All four TLS models in one program, initial values, alignment, address differs per thread.
// FLAGS: -pthread -fPIC
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define MODEL(m) __thread __attribute__((tls_model(m)))
MODEL("global-dynamic") int general = 1;
static MODEL("local-dynamic") int local_a = 2;
static MODEL("local-dynamic") int local_b;
MODEL("initial-exec") long initial = 4;
static MODEL("local-exec") char text[16] = "tls";
static _Thread_local _Alignas(64) double aligned = 1.5;
static _Thread_local int *self = NULL;

static long use(int k)
{
    general += k;
    local_a *= k;
    local_b += local_a;
    initial -= k;
    text[0] = (char)(text[0] + k);
    aligned *= 2;
    self = &general;
    return general + local_a + local_b + initial + text[0] + (long)aligned;
}
static void *thread(void *arg)
{
    long sum = 0;
    for (int i = 0; i < 5; i++)
        sum += use((int)(intptr_t)arg);
    return (void *)(sum + (self == (int *)arg) + (((uintptr_t)&aligned & 63) != 0) * 1000000);
}

int main(void)
{
    pthread_t t[3];
    long sums[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, thread, (void *)(i + 2));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], (void **)&sums[i]);
    printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
    printf("%d %d %d %ld %s %g %d\n", general, local_a, local_b, initial, text, aligned, self == NULL);
    return 0;
}
