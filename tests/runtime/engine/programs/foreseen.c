/* A read that takes the value of a write which only comes because of it: under hbmm, and only if that write then comes.
 * The schedule names the write, so that kernel threads find it.
 * drive: --strategy=random --seed=3 --schedules=400 --model=hbmm --no-races --no-order --look-for=assertion
 * stale: later never
 * expect: found assertion: .*saw_later == 0
 * refuse: found assertion: .*saw_never
 * replay: found assertion: .*saw_later == 0 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int later, never, saw_later, saw_never;
static atomic_int has_read;

static void *reader(void *unused)
{
    saw_later = later;
    saw_never = never;
    atomic_store_explicit(&has_read, 1, memory_order_relaxed);
    return unused;
}

static void *writer(void *unused)
{
    if (atomic_load_explicit(&has_read, memory_order_relaxed)) {
        later = 1;
        if (saw_never) /* comes only if it came */
            never = 1;
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(saw_never == 0);
    assert(saw_later == 0);
    return 0;
}
