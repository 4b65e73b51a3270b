/* Two threads count by a load and a store of an atomic: one of them may be lost, which the exit status tells. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int n;

static void *add(void *unused)
{
    int v = atomic_load(&n);
    atomic_store(&n, v + 1);
    return unused;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return n != 2;
}
