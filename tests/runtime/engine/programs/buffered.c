/* Store buffers: each thread sees the other's flag down while its own store waits, unless it fences or the variable is
 * atomic. Drains and fences are steps that kernel threads follow.
 * drive: --strategy=dpor --systematic --model=tso --no-races --look-for=assertion
 * stale: left right fenced_left fenced_right
 * expect: state: exhausted
 * expect: found assertion: .*saw_left \|\| saw_right
 * refuse: found assertion: .*fenced
 * replay: found assertion: .*saw_left \|\| saw_right */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int left, right, fenced_left, fenced_right;
static int saw_left, saw_right, fenced_saw_left, fenced_saw_right;

static void *go_left(void *unused)
{
    left = 1;
    int saw = right;
    fenced_left = 1;
    atomic_thread_fence(memory_order_seq_cst);
    fenced_saw_right = fenced_right;
    saw_right = saw;
    return unused;
}

static void *go_right(void *unused)
{
    right = 1;
    int saw = left;
    fenced_right = 1;
    atomic_thread_fence(memory_order_seq_cst);
    fenced_saw_left = fenced_left;
    saw_left = saw;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, go_left, NULL);
    pthread_create(&b, NULL, go_right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(fenced_saw_left || fenced_saw_right);
    assert(saw_left || saw_right);
    return 0;
}
