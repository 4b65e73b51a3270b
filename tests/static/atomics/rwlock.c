// suspect: entries
// Many readers or one writer, by one counter; broken: the writer does not wait for readers.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int users; /* -1: a writer */
static long entries;

static void read_lock(void)
{
    for (;;) {
        int now = atomic_load_explicit(&users, memory_order_relaxed);
        if (now >= 0 &&
            atomic_compare_exchange_weak_explicit(&users, &now, now + 1, memory_order_acquire, memory_order_relaxed))
            break;
    }
}

static void read_unlock(void)
{
    atomic_fetch_sub_explicit(&users, 1, memory_order_release);
}

static bool try_write(void)
{
    int none = 0;
    return atomic_compare_exchange_strong_explicit(&users, &none, -1, memory_order_acquire, memory_order_relaxed);
}

static void *reader(void *arg)
{
    read_lock();
    long n = entries;
    read_unlock();
    return (char *)arg + n;
}

static void *writer(void *arg)
{
#ifdef BROKEN
    (void)!try_write();
#else
    while (!try_write())
        ;
#endif
    entries++;
    atomic_store_explicit(&users, 0, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t r[2], w[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&r[i], 0, reader, 0);
        pthread_create(&w[i], 0, writer, 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(r[i], 0);
        pthread_join(w[i], 0);
    }
    return 0;
}
