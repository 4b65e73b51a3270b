// _Atomic struct of eight bytes: copied whole, compared whole, updated by two threads.
// FLAGS: -pthread -latomic
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct pair {
    int count, tag;
};
static _Atomic struct pair shared;

static void *bump(void *arg)
{
    int odd = *(int *)arg;
    for (int i = 0; i < 3000; i++) {
        struct pair old = atomic_load_explicit(&shared, memory_order_relaxed), next;
        do {
            next = old;
            next.count++;
            next.tag += odd;
        } while (!atomic_compare_exchange_weak(&shared, &old, next));
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int one = 1, ten = 10;
    pthread_create(&a, NULL, bump, &one);
    pthread_create(&b, NULL, bump, &ten);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    struct pair end = shared;
    printf("%d %d\n", end.count, end.tag);
    return end.count != 6000;
}
