/* A stack counts an element before it is there; who sees the count takes what is not there.
 * Expected: crash at `take`. */
#include "threads.h"

#include <stdatomic.h>

struct node {
    struct node *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node only, *top;
static atomic_int size;

static void *pusher(void *arg)
{
#ifndef FIXED
    size++;
#endif
    pthread_mutex_lock(&lock);
    only.next = top;
    top = &only;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    size++;
#endif
    return arg;
}

static void *popper(void *arg)
{
    if (size == 0)
        return arg;
    size--;
    pthread_mutex_lock(&lock);
    struct node *n = top;
    top = n->next; /* take */
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(pusher, popper);
    return 0;
}
