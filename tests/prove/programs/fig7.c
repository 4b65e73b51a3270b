/* Shacham et al., Fig. 7: X is written under lock_x by the first thread after all else, and read under lock_y by
 * the second before. Who looks backwards only from where the locksets became empty does not find the pair.
 * Expected: race on `X` at `write` and `read`. */
#include "threads.h"

static pthread_mutex_t lock_x = PTHREAD_MUTEX_INITIALIZER, lock_y = PTHREAD_MUTEX_INITIALIZER;
int X, Y;

static void both(void)
{
    pthread_mutex_lock(&lock_x);
    pthread_mutex_lock(&lock_y);
    Y = X;
    pthread_mutex_unlock(&lock_y);
    pthread_mutex_unlock(&lock_x);
}

static void set(void)
{
    pthread_mutex_lock(&lock_x);
    X = 7; /* write */
    pthread_mutex_unlock(&lock_x);
}

static void get(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock_x);
#endif
    pthread_mutex_lock(&lock_y);
    Y = X; /* read */
    pthread_mutex_unlock(&lock_y);
#ifdef FIXED
    pthread_mutex_unlock(&lock_x);
#endif
}

static void *second(void *arg)
{
    both();
    set();
    get();
    return arg;
}

static void *first(void *arg)
{
    both();
    set();
    return arg;
}

int main(void)
{
    RUN(second, first);
    return X + Y > 14;
}
