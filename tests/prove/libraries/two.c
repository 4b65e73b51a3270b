/* One library has a variable and reads it under its lock, another one writes it without.
 * Expected: race on `level` at `writes` and `reads`. */
#ifdef LIBRARY_1
#include <pthread.h>
pthread_mutex_t level_lock = PTHREAD_MUTEX_INITIALIZER;
int level;
int read_level(void);
int read_level(void)
{
    pthread_mutex_lock(&level_lock);
    int now = level; /* reads */
    pthread_mutex_unlock(&level_lock);
    return now;
}
#elif defined LIBRARY_2
#include <pthread.h>
extern pthread_mutex_t level_lock;
extern int level;
void raise_level(void);
void raise_level(void)
{
#ifdef FIXED
    pthread_mutex_lock(&level_lock);
#endif
    level = 3; /* writes */
#ifdef FIXED
    pthread_mutex_unlock(&level_lock);
#endif
}
#else
#include "../programs/threads.h"
int read_level(void);
void raise_level(void);
static void *reader(void *arg)
{
    read_level();
    return arg;
}
static void *writer(void *arg)
{
    raise_level();
    return arg;
}
int main(void)
{
    RUN(reader, writer);
    return 0;
}
#endif
