/* The iterator keeps its element between two steps without the lock; the element is removed and freed meanwhile.
 * Expected: use-after-free at `step` and `free`. */
#include "threads.h"

#include <stdatomic.h>

struct element {
    struct element *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct element *first;
static atomic_int seen;

static void *iterator(void *arg)
{
    pthread_mutex_lock(&lock);
    struct element *here = first;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    for (; here; here = here->next) /* step */
        seen++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *remover(void *arg)
{
    pthread_mutex_lock(&lock);
    struct element *old = first;
    first = old->next;
    pthread_mutex_unlock(&lock);
    free(old); /* free */
    return arg;
}

int main(void)
{
    first = calloc(1, sizeof *first);
    first->next = calloc(1, sizeof *first);
    RUN(iterator, remover);
    return seen > 2;
}
