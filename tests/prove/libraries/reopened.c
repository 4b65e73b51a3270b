/* A plugin is closed, another one opened, and the first one again; that one is the one with the race.
 * Expected: race on `second` at `changes`. */
#ifdef LIBRARY_1
int first;
void change(void);
void change(void)
{
    first = 1;
}
#elif defined LIBRARY_2
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int second;
void change(void);
void change(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    second++; /* changes */
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
static void (*change)(void);
static void *changer(void *arg)
{
    change();
    return arg;
}
static void *open_and_call(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW);
    if (!plugin)
        abort();
    *(void **)&change = dlsym(plugin, "change");
    change();
    return plugin;
}
int main(void)
{
    dlclose(open_and_call(PLUGIN_2));
    dlclose(open_and_call(PLUGIN_1));
    open_and_call(PLUGIN_2);
    RUN(changer, changer);
    return 0;
}
#endif
