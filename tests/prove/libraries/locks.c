/* Each of two libraries has a lock and calls the other one with it held.
 * Expected: deadlock at `first then second` and `second then first`. */
#ifdef LIBRARY_1
#include <pthread.h>
void second_alone(void);
void first(void);
void first_alone(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void first_alone(void)
{
    pthread_mutex_lock(&lock); /* second then first */
    pthread_mutex_unlock(&lock);
}
void first(void)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    second_alone();
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
}
#elif defined LIBRARY_2
#include <pthread.h>
void first_alone(void);
void second(void);
void second_alone(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void second_alone(void)
{
    pthread_mutex_lock(&lock); /* first then second */
    pthread_mutex_unlock(&lock);
}
void second(void)
{
    pthread_mutex_lock(&lock);
    first_alone();
    pthread_mutex_unlock(&lock);
}
#else
#include "../programs/threads.h"
void first(void);
void second(void);
static void *a(void *arg)
{
    first();
    return arg;
}
static void *b(void *arg)
{
    second();
    return arg;
}
int main(void)
{
    RUN(a, b);
    return 0;
}
#endif
