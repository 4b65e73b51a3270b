/* Two globals, locked in the order of their addresses by two branches. BROKEN 1: both branches lock alike. */
#include <pthread.h>
#include <stdio.h>
struct node {
    pthread_mutex_t lock;
    int value;
};
static struct node left = {PTHREAD_MUTEX_INITIALIZER, 1}, right = {PTHREAD_MUTEX_INITIALIZER, 2};

static void swap(struct node *a, struct node *b)
{
    if (a == b)
        return;
#if BROKEN == 1
    pthread_mutex_lock(&a->lock);
    pthread_mutex_lock(&b->lock);
#else
    if (a < b) {
        pthread_mutex_lock(&a->lock);
        pthread_mutex_lock(&b->lock);
    } else {
        pthread_mutex_lock(&b->lock);
        pthread_mutex_lock(&a->lock);
    }
#endif
    int value = a->value;
    a->value = b->value;
    b->value = value;
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_unlock(&b->lock);
}

static void *one(void *arg)
{
    (void)arg;
    swap(&left, &right);
    return NULL;
}

static void *other(void *arg)
{
    (void)arg;
    swap(&right, &left);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, other, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d %d\n", left.value, right.value);
    return 0;
}
