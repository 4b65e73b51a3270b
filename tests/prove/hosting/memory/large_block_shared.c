/* A block so large that malloc maps it by itself is grown by realloc while another thread reads it.
 * Expected: race or use-after-free or crash. */
#include "threads.h"

#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *block;

static void *grower(void *arg)
{
    pthread_mutex_lock(&lock);
    block = realloc(block, 4 << 20);
    block[(4 << 20) - 1] = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *reader(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    assert(block[0] == 1);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    block = malloc(1 << 20);
    block[0] = 1;
    RUN(grower, reader);
    free(block);
    return 0;
}
