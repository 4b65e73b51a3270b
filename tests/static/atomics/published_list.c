// suspect: value
// Entries of a list that only grows: filled in, then linked by a release store; broken: filled in afterwards.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

struct entry {
    struct entry *next;
    long value;
};

static struct entry *head;

static void *adder(void *arg)
{
    for (long i = 0; i < 100; i++) {
        struct entry *e = malloc(sizeof *e);
        e->next = smp_load_acquire(&head);
#ifdef BROKEN
        smp_store_release(&head, e);
        e->value = i;
#else
        e->value = i;
        smp_store_release(&head, e);
#endif
    }
    return arg;
}

static void *reader(void *arg)
{
    long sum = 0;
    for (struct entry *e = smp_load_acquire(&head); e; e = e->next)
        sum += e->value;
    return (char *)arg + sum;
}

int main(void)
{
    pthread_t a, r;
    pthread_create(&a, 0, adder, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(r, 0);
    return 0;
}
