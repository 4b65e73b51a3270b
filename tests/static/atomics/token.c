// suspect: document
// A token goes round, and who has it may write; broken: it is passed on too early.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define WRITERS 3

static atomic_int turn;
static long document;

static void *writer(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < 10; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != me)
            sched_yield();
#ifdef BROKEN
        atomic_store_explicit(&turn, (me + 1) % WRITERS, memory_order_release);
        document += me;
#else
        document += me;
        atomic_store_explicit(&turn, (me + 1) % WRITERS, memory_order_release);
#endif
    }
    return 0;
}

int main(void)
{
    pthread_t t[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&t[i], 0, writer, (void *)(intptr_t)i);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(t[i], 0);
    return 0;
}
