/* Shacham et al., Fig. 6: X is used under two locks, under the one, and under the other. No lock guards all its
 * uses, and still no two of them, of which one writes, can meet.
 * Expected: nothing. */
#include "threads.h"

static pthread_mutex_t lock_x = PTHREAD_MUTEX_INITIALIZER, lock_y = PTHREAD_MUTEX_INITIALIZER;
int X, Y;

static void *first(void *arg)
{
    pthread_mutex_lock(&lock_x);
    pthread_mutex_lock(&lock_y);
    X = Y;
    pthread_mutex_unlock(&lock_y);
    pthread_mutex_unlock(&lock_x);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&lock_x);
    X = 7;
    pthread_mutex_unlock(&lock_x);
    pthread_mutex_lock(&lock_y);
    Y = X;
    pthread_mutex_unlock(&lock_y);
    return arg;
}

int main(void)
{
    RUN(first, second);
    return X + Y > 14;
}
