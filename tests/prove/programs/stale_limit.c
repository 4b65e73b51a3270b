/* The limit is read in one section and trusted in the next; the table was cut in between.
 * Expected: assertion at `outside`. */
#include "threads.h"

#include <assert.h>

enum { ROOM = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[ROOM], limit = ROOM;

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    int last = limit - 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#ifdef FIXED
    last = limit - 1;
#endif
    assert(last < limit); /* outside */
    table[last] = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *cutter(void *arg)
{
    pthread_mutex_lock(&lock);
    limit = ROOM / 2;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(writer, cutter);
    return 0;
}
