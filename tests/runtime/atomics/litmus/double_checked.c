// Made once, under a lock, by whoever comes first; later ones look without the lock.
// WRONG: size -DLOOK=relaxed
// WRONG: size -DPUBLISH=relaxed
#include "litmus.h"
#ifndef LOOK
#define LOOK acquire
#endif
#ifndef PUBLISH
#define PUBLISH release
#endif

struct table {
    int size;
};
static struct table the_table;
static _Atomic(struct table *) table;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static struct table *get(void)
{
    struct table *t = LOAD(table, LOOK);
    if (t)
        return t;
    pthread_mutex_lock(&making);
    t = LOAD(table, relaxed);
    if (!t) {
        the_table.size = 128;
        t = &the_table;
        STORE(table, t, PUBLISH);
    }
    pthread_mutex_unlock(&making);
    return t;
}

static void *first(void *arg)
{
    (void)arg;
    get();
    invisible_reach(1);
    return NULL;
}

static void *second(void *arg)
{
    (void)arg;
    invisible_await(1);
    printf("%d\n", get()->size);
    return NULL;
}

int main(void)
{
    TOGETHER(first, second);
    return 0;
}
