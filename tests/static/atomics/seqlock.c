// suspect: stamp
// A sequence lock around atomics with one writer, who keeps a plain copy for itself; broken: a reader uses the copy.
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_long seconds, fraction;
static long stamp;

static void *clock_thread(void *arg)
{
    for (long i = 0; i < 100; i++) {
        unsigned s = atomic_load_explicit(&sequence, memory_order_relaxed);
        atomic_store_explicit(&sequence, s + 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        stamp = i;
        atomic_store_explicit(&seconds, i, memory_order_relaxed);
        atomic_store_explicit(&fraction, -i, memory_order_relaxed);
        atomic_store_explicit(&sequence, s + 2, memory_order_release);
    }
    return arg;
}

static void *reader(void *arg)
{
    long a, b;
    unsigned before, after;
    do {
        before = atomic_load_explicit(&sequence, memory_order_acquire);
        a = atomic_load_explicit(&seconds, memory_order_relaxed);
        b = atomic_load_explicit(&fraction, memory_order_relaxed);
#ifdef BROKEN
        a = stamp;
#endif
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&sequence, memory_order_relaxed);
    } while (before % 2 || before != after);
    return (char *)arg + (a + b);
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, 0, clock_thread, 0);
    pthread_create(&r, 0, reader, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
