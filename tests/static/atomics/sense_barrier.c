// suspect: part
// A sense-reversing barrier between two phases; broken: those who wait do not acquire.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define THREADS 4
#ifdef BROKEN
#define LOOK memory_order_relaxed
#else
#define LOOK memory_order_acquire
#endif

struct barrier {
    atomic_int left;
    atomic_int sense;
};

static struct barrier meeting = {THREADS, 0};
static long part[THREADS], total[THREADS];

static void barrier_wait(struct barrier *b, int *sense)
{
    int mine = *sense = !*sense;
    if (atomic_fetch_sub_explicit(&b->left, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&b->left, THREADS, memory_order_relaxed);
        atomic_store_explicit(&b->sense, mine, memory_order_release);
    } else {
        while (atomic_load_explicit(&b->sense, LOOK) != mine)
            ;
    }
}

static void *worker(void *arg)
{
    int id = (int)(intptr_t)arg, sense = 0;
    for (int round = 0; round < 10; round++) {
        part[id] = id * round;
        barrier_wait(&meeting, &sense);
        for (int i = 0; i < THREADS; i++)
            total[id] += part[i];
        barrier_wait(&meeting, &sense);
    }
    return 0;
}

int main(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], 0, worker, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], 0);
    return 0;
}
