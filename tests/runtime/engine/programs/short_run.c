/* A short run is begun at its first step, whatever the job asks for, and exhausted as ever.
 * drive: --start=1 --strategy=dpor
 * expect: state: exhausted \(all there is\)
 * refuse: begun at
 * expect: schedules: 2, */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;

static void *adds(void *unused)
{
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, adds, NULL);
    adds(NULL);
    pthread_join(a, NULL);
    return n != 2;
}
