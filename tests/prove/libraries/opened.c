/* A plugin is opened before there are threads, and counts without a lock.
 * Expected: race on `served` at `serves`. */
#ifdef LIBRARY_1
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long served;
void serve(void);
void serve(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    served += 2; /* serves */
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#else
    (void)lock;
#endif
}
#else
#include "../programs/threads.h"

#include <dlfcn.h>
#include <stdlib.h>
static void (*serve)(void);
static void *client(void *arg)
{
    serve();
    return arg;
}
int main(void)
{
    void *plugin = dlopen(PLUGIN_1, RTLD_NOW);
    if (!plugin)
        abort();
    *(void **)&serve = dlsym(plugin, "serve");
    RUN(client, client);
    return 0;
}
#endif
