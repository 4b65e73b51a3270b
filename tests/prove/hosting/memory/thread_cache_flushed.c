/* An allocator keeps blocks for each thread; the destructor of a thread's key gives them back to the common list, which
 * another thread walks. Expected: race or assertion. */
#include "threads.h"

#include <assert.h>

struct block {
    struct block *next;
    int used;
};

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *common;

static void flush(void *arg)
{
    struct block *b = arg;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    b->next = common;
    common = b;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *worker(void *arg)
{
    struct block *b;
    pthread_mutex_lock(&lock);
    b = common;
    if (b)
        common = b->next;
    pthread_mutex_unlock(&lock);
    if (!b)
        b = calloc(1, sizeof *b);
    assert(b->used == 0);
    b->used = 1;
    b->used = 0;
    pthread_setspecific(key, b);
    return arg;
}

int main(void)
{
    pthread_key_create(&key, flush);
    RUN(worker, worker, worker);
    return 0;
}
