/* Stale values of a variable under C's own memory model: what atomics that are not adversarial themselves publish is
 * seen, by release and acquire as well as by fences; what a relaxed one does is not.
 * drive: --schedules=3000 --no-races --no-order --model=c11
 * stale: released fenced relaxed
 * expect: found assertion: .*relaxed == 1
 * refuse: found assertion: .*released == 1
 * refuse: found assertion: .*fenced == 1 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int released, fenced, relaxed;
static atomic_int by_release, by_fence, by_nothing;

static void *publish(void *unused)
{
    released = 1;
    atomic_store_explicit(&by_release, 1, memory_order_release);
    relaxed = 1;
    atomic_store_explicit(&by_nothing, 1, memory_order_relaxed);
    fenced = 1;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&by_fence, 1, memory_order_relaxed);
    return unused;
}

static void *look(void *unused)
{
    if (atomic_load_explicit(&by_nothing, memory_order_relaxed))
        assert(relaxed == 1);
    if (atomic_load_explicit(&by_release, memory_order_acquire))
        assert(released == 1);
    if (atomic_load_explicit(&by_fence, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        assert(fenced == 1);
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, publish, 0);
    pthread_create(&b, 0, look, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
}
