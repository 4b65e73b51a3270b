/* A point is drawn by one thread and moved by another. Every access is locked, so there is no race; but the mover sets
 * x and y in two critical sections and the painter reads both in one: it may paint a point that never was. Then an
 * elevator, whose take_people() leaves a field alone when nobody waits: that is no conflict, as the code owns it.
 * Expected: view suspected at `paint x`, `move x`, `paint y` and `move y` */
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

static void set_x(struct point *p, long x)
{
    pthread_mutex_lock(&p->lock);
    p->x = x; /* move x */
    pthread_mutex_unlock(&p->lock);
}

static void set_y(struct point *p, long y)
{
    pthread_mutex_lock(&p->lock);
    p->y = y; /* move y */
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
        set_x(&point, i);
        set_y(&point, i);
        claim(&call);
        take_people(&call);
    }
    return unused;
}

static void *painter(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&point.lock);
        long x = point.x; /* paint x */
        long y = point.y; /* paint y */
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
