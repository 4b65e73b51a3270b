// suspect: log_length
// Two locks of one kind; broken: one writer takes the other lock.
#include <pthread.h>
#include <stdatomic.h>

static int log_lock, list_lock;
static int log_length, list_length;

static void take(int *lock)
{
    while (__sync_lock_test_and_set(lock, 1))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            ;
}

static void give(int *lock)
{
    __sync_lock_release(lock);
}

static void *logger(void *arg)
{
    take(&log_lock);
    log_length++;
    give(&log_lock);
    return arg;
}

static void *lister(void *arg)
{
    take(&list_lock);
    list_length++;
#ifdef BROKEN
    log_length++;
#endif
    give(&list_lock);
    return arg;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, i % 2 ? logger : lister, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return 0;
}
