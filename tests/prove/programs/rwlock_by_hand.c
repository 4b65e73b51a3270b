/* A reader-writer lock made by hand: writer and reader both look first and come in then.
 * Expected: race on `value` at `read` and `write`. */
#include "threads.h"

#include <stdatomic.h>

#ifdef FIXED
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
#endif
static atomic_int readers, writers;
static int value;
static atomic_int copy;

static int enter(atomic_int *mine, atomic_int *others)
{
#ifdef FIXED
    pthread_mutex_lock(&door);
#endif
    int free = *others == 0;
    if (free)
        ++*mine;
#ifdef FIXED
    pthread_mutex_unlock(&door);
#endif
    return free;
}

static void *reader(void *arg)
{
    if (enter(&readers, &writers)) {
        copy = value; /* read */
        readers--;
    }
    return arg;
}

static void *writer(void *arg)
{
    if (enter(&writers, &readers)) {
        value = 7; /* write */
        writers--;
    }
    return arg;
}

int main(void)
{
    RUN(reader, writer);
    return copy > 7;
}
