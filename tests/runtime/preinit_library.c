/* A library that is not instrumented and creates a thread as soon as it is loaded. */
#include <pthread.h>

static void *routine(void *arg)
{
    return arg;
}

__attribute__((constructor)) static void constructor(void)
{
    pthread_t t;
    pthread_create(&t, NULL, routine, NULL);
    pthread_setname_np(t, "library");
    pthread_join(t, NULL);
}
