/* Width and height are set in two sections; who paints in between sees a size that never was.
 * Expected: atomicity at `width` and `height`.
 * Options: --sections=@/pair_apart.sections */
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int width = 1, height = 1, area;

static void resize(int n)
{
    pthread_mutex_lock(&lock);
    width = n; /* width */
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    height = n; /* height */
    pthread_mutex_unlock(&lock);
}

static void *window(void *arg)
{
    resize(2);
    return arg;
}

static void *painter(void *arg)
{
    pthread_mutex_lock(&lock);
    area = width * height;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(window, painter);
    return area > 4;
}
