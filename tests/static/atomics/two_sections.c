// suspect: atomicity violation on visits
// A counter under a lock made by hand; broken: read in one critical section and written in another.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int door;
static int visits;

static void enter(void)
{
    while (atomic_exchange_explicit(&door, 1, memory_order_acquire))
        ;
}

static void leave(void)
{
    atomic_store_explicit(&door, 0, memory_order_release);
}

static void *visitor(void *arg)
{
    enter();
    int now = visits;
#ifdef BROKEN
    leave();
    enter();
#endif
    visits = now + 1;
    leave();
    return arg;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, visitor, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return visits != 2;
}
