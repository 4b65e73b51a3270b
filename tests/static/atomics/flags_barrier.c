// suspect: row
// Each says how far it is and waits for all others; broken: it says so without release.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define THREADS 3
#ifdef BROKEN
#define SAY memory_order_relaxed
#else
#define SAY memory_order_release
#endif

static struct {
    atomic_long steps;
    char line[56];
} done[THREADS];
static double row[THREADS], next[THREADS];

static void meet(int id)
{
    long mine = atomic_load_explicit(&done[id].steps, memory_order_relaxed) + 1;
    atomic_store_explicit(&done[id].steps, mine, SAY);
    for (int i = 0; i < THREADS; i++)
        while (i != id && atomic_load_explicit(&done[i].steps, memory_order_acquire) < mine)
            sched_yield();
}

static void *solver(void *arg)
{
    int id = (int)(intptr_t)arg;
    for (int i = 0; i < 8; i++) {
        next[id] = row[(id + 1) % THREADS] + 1;
        meet(id);
        row[id] = next[id];
        meet(id);
    }
    return 0;
}

int main(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], 0, solver, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], 0);
    return 0;
}
