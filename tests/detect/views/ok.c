/* A point is drawn by one thread and moved by another. Every access is locked, so there is no race; and the
 * mover sets x and y in one critical section. Then an elevator, whose take_people() leaves a field alone when nobody
 * waits: that is no conflict, as the code owns it.
 * Expected: nothing */
#include <pthread.h>
#include <stdio.h>

struct point {
    pthread_mutex_t lock;
    long x, y;
};

struct call {
    pthread_mutex_t lock;
    int waiting, people, claimed;
};

static struct point point = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct call call = {.lock = PTHREAD_MUTEX_INITIALIZER};
static volatile int nobody;
static long painted;

static void set_xy(struct point *p, long x, long y)
{
    pthread_mutex_lock(&p->lock);
    p->x = x;
    p->y = y;
    pthread_mutex_unlock(&p->lock);
}

static void claim(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->waiting > 0)
        c->claimed = 1;
    pthread_mutex_unlock(&c->lock);
}

static void take_people(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    c->people = 0;
    c->claimed = 0;
    if (nobody)
        c->waiting = 0;
    pthread_mutex_unlock(&c->lock);
}

static void push_button(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    c->people++;
    c->waiting++;
    if (!c->claimed)
        painted++;
    pthread_mutex_unlock(&c->lock);
}

static void *mover(void *unused)
{
    for (long i = 0; i < 100; i++) {
        set_xy(&point, i, i);
        claim(&call);
        take_people(&call);
    }
    return unused;
}

static void *painter(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&point.lock);
        long x = point.x;
        long y = point.y;
        pthread_mutex_unlock(&point.lock);
        painted += x - y;
        push_button(&call);
    }
    return unused;
}

int main(void)
{
    pthread_t moves, paints;
    pthread_create(&moves, NULL, mover, NULL);
    pthread_create(&paints, NULL, painter, NULL);
    pthread_join(moves, NULL);
    pthread_join(paints, NULL);
    printf("%ld\n", painted > 0);
    return 0;
}
