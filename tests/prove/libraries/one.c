/* A library counts its calls without a lock.
 * Expected: race on `counted` at `counts`. */
#ifdef LIBRARY_1
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counted;
void count(void);
void count(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    counted++; /* counts */
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#else
    (void)lock;
#endif
}
#else
#include "../programs/threads.h"
void count(void);
static void *caller(void *arg)
{
    count();
    return arg;
}
int main(void)
{
    RUN(caller, caller);
    return 0;
}
#endif
