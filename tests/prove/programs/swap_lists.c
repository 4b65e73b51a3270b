/* Two lists are swapped under one lock after the other; who counts all elements in the meantime finds one list
 * twice.
 * Expected: assertion at `all there`. */
#include "threads.h"

#include <assert.h>

struct list {
    pthread_mutex_t lock;
    struct node {
        struct node *next;
    } *first;
};

static struct node nodes[3] = {{&nodes[1]}, {NULL}, {NULL}};
static struct list a = {PTHREAD_MUTEX_INITIALIZER, &nodes[0]}, b = {PTHREAD_MUTEX_INITIALIZER, &nodes[2]};

static int length(const struct list *l)
{
    int n = 0;
    for (const struct node *p = l->first; p; p = p->next)
        n++;
    return n;
}

static void *swapper(void *arg)
{
    pthread_mutex_lock(&a.lock);
#ifdef FIXED
    pthread_mutex_lock(&b.lock);
    struct node *old = a.first;
    a.first = b.first;
#else
    struct node *old = a.first;
    pthread_mutex_lock(&b.lock);
    a.first = b.first;
    pthread_mutex_unlock(&b.lock);
    pthread_mutex_unlock(&a.lock);
    pthread_mutex_lock(&a.lock);
    pthread_mutex_lock(&b.lock);
#endif
    b.first = old;
    pthread_mutex_unlock(&b.lock);
    pthread_mutex_unlock(&a.lock);
    return arg;
}

static void *counter(void *arg)
{
    pthread_mutex_lock(&a.lock);
    pthread_mutex_lock(&b.lock);
    int all = length(&a) + length(&b);
    pthread_mutex_unlock(&b.lock);
    pthread_mutex_unlock(&a.lock);
    assert(all == 3); /* all there */
    return arg;
}

int main(void)
{
    RUN(swapper, counter);
    return 0;
}
