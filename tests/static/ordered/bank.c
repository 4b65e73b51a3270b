/* Transfers between accounts, both locks taken in the order of addresses by a helper. BROKEN 1: in the order they come. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
struct account {
    pthread_mutex_t lock;
    long money;
};
static struct account savings = {PTHREAD_MUTEX_INITIALIZER, 100}, checking = {PTHREAD_MUTEX_INITIALIZER, 100};

static void lock_two(struct account *a, struct account *b)
{
#if BROKEN != 1
    if ((uintptr_t)a > (uintptr_t)b) {
        struct account *t = a;
        a = b;
        b = t;
    }
#endif
    pthread_mutex_lock(&a->lock);
    pthread_mutex_lock(&b->lock);
}

static void transfer(struct account *from, struct account *to, long amount)
{
    lock_two(from, to);
    from->money -= amount;
    to->money += amount;
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_unlock(&to->lock);
}

static void *saver(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        transfer(&checking, &savings, 1);
    return NULL;
}

static void *spender(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++)
        transfer(&savings, &checking, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, saver, NULL);
    pthread_create(&b, NULL, spender, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%ld\n", savings.money + checking.money);
    return 0;
}
