/* A table's hash is seeded from the system before the threads begin, in three ways; how often its lock is taken depends
 * on the seeds. Two threads count its entries in two steps.
 * Expected: assertion or race. */
#include "threads.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

static unsigned char seeds[3];
static pthread_mutex_t bucket = PTHREAD_MUTEX_INITIALIZER, entries_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int entries;

static void draw_seeds(void)
{
    FILE *device = fopen("/dev/urandom", "r");
    int descriptor = open("/dev/urandom", O_RDONLY);
    assert(device && fread(&seeds[0], 1, 1, device) == 1);
    assert(read(descriptor, &seeds[1], 1) == 1);
    assert(getrandom(&seeds[2], 1, 0) == 1);
    fclose(device);
    close(descriptor);
}

static void look_up(unsigned seed)
{
    for (unsigned i = 0; i < seed % 8; i++) {
        pthread_mutex_lock(&bucket);
        pthread_mutex_unlock(&bucket);
    }
}

static void *inserter(void *arg)
{
    look_up(seeds[0]);
#ifdef FIXED
    pthread_mutex_lock(&entries_lock);
#endif
    int before = entries;
    look_up(seeds[1]);
    entries = before + 1;
#ifdef FIXED
    pthread_mutex_unlock(&entries_lock);
#endif
    look_up(seeds[2]);
    return arg;
}

int main(void)
{
    draw_seeds();
    RUN(inserter, inserter);
    (void)entries_lock;
    assert(entries == 2);
    return 0;
}
