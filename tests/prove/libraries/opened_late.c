/* A thread opens a plugin while another one runs already; both use it then.
 * Expected: race on `uses` at `uses it`. */
#ifdef LIBRARY_1
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int uses;
void use(void);
void use(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    uses++; /* uses it */
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
static void *user(void *arg)
{
    void *plugin = dlopen(PLUGIN_1, RTLD_NOW);
    void (*use)(void);
    if (!plugin)
        abort();
    *(void **)&use = dlsym(plugin, "use");
    use();
    return arg;
}
int main(void)
{
    RUN(user, user);
    return 0;
}
#endif
