/* An inline function of a header is compiled into the program and into the library; both copies race.
 * Expected: race on `ticks` at `ticks`. */
#include <pthread.h>
extern int ticks;
extern pthread_mutex_t ticks_lock;
static inline void tick(void)
{
#ifdef FIXED
    pthread_mutex_lock(&ticks_lock);
#endif
    ticks++; /* ticks */
#ifdef FIXED
    pthread_mutex_unlock(&ticks_lock);
#endif
}
#ifdef LIBRARY_1
int ticks;
pthread_mutex_t ticks_lock = PTHREAD_MUTEX_INITIALIZER;
void tick_there(void);
void tick_there(void)
{
    tick();
}
#else
#include "../programs/threads.h"
void tick_there(void);
static void *here(void *arg)
{
    tick();
    return arg;
}
static void *there(void *arg)
{
    tick_there();
    return arg;
}
int main(void)
{
    RUN(here, there);
    return 0;
}
#endif
