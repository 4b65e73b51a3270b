// suspect: struct job
// A job is given away by a pointer; broken: stored relaxed. Under a lock that would do, and one is stored so.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define GIVE memory_order_relaxed
#else
#define GIVE memory_order_release
#endif

struct job {
    int number;
};
struct note {
    int text;
};

static _Atomic(struct job *) next;
static _Atomic(struct note *) board;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *boss(void *arg)
{
    struct job *j = malloc(sizeof *j);
    j->number = 1;
    atomic_store_explicit(&next, j, GIVE);
    struct note *n = malloc(sizeof *n);
    n->text = 2;
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&board, n, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *worker(void *arg)
{
    int sum = 0;
    struct job *j = atomic_load_explicit(&next, memory_order_acquire);
    if (j)
        sum += j->number;
    pthread_mutex_lock(&lock);
    struct note *n = atomic_load_explicit(&board, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    if (n)
        sum += n->text;
    return (char *)arg + sum;
}

int main(void)
{
    pthread_t b, w;
    pthread_create(&b, 0, boss, 0);
    pthread_create(&w, 0, worker, 0);
    pthread_join(b, 0);
    pthread_join(w, 0);
    return 0;
}
