/* Every access is locked, but the cashier looks, and later acts on what may be no longer so. */
#include <pthread.h>
#include <stdlib.h>

struct till {
    pthread_mutex_t lock;
    long coins;
    int closed;
    long *receipt;
};

static struct till *till;

static long count(struct till *t)
{
    pthread_mutex_lock(&t->lock);
    long coins = t->coins;
    pthread_mutex_unlock(&t->lock);
    return coins;
}

static void put_in(struct till *t, long coins)
{
#ifdef FIXED
    pthread_mutex_lock(&t->lock);
    long there = t->coins;
#else
    long there = count(t);
    pthread_mutex_lock(&t->lock);
#endif
    t->coins = there + coins;
    pthread_mutex_unlock(&t->lock);
}

static int is_closed(struct till *t)
{
    pthread_mutex_lock(&t->lock);
    int closed = t->closed;
    pthread_mutex_unlock(&t->lock);
    return closed;
}

static void print_receipt(struct till *t)
{
    long *paper = malloc(sizeof *paper);
    pthread_mutex_lock(&t->lock);
#ifdef FIXED
    if (!t->closed)
#endif
        t->receipt = paper;
    pthread_mutex_unlock(&t->lock);
}

static void sell(struct till *t)
{
    if (is_closed(t))
        return;
    print_receipt(t);
}

static void close_till(struct till *t)
{
    pthread_mutex_lock(&t->lock);
    t->receipt = NULL;
    t->closed = 1;
    pthread_mutex_unlock(&t->lock);
}

static void *cashier(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        put_in(till, i);
        sell(till);
    }
    return NULL;
}

static void *manager(void *unused)
{
    (void)unused;
    put_in(till, 1000);
    close_till(till);
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    till = calloc(1, sizeof *till);
    pthread_mutex_init(&till->lock, NULL);
    pthread_create(&first, NULL, cashier, NULL);
    pthread_create(&second, NULL, manager, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return count(till) == 0;
}
