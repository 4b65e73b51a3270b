/* Opens the plugin. With the runtime in it, the plugin's frames are on its shadow stack; without, nothing happens. */
#ifdef WITH_RUNTIME
#include "by_hand.h"

#include "runtime/core/threads.h"
#else
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)
#endif
#include <dlfcn.h>

static uint32_t depth(void)
{
#ifdef WITH_RUNTIME
    return __dh_thread.depth;
#else
    return 0;
#endif
}

static uint32_t inside;

static int back(int value)
{
    inside = depth();
    return value + 1;
}

int main(int argc, char **argv)
{
    uint32_t outside = depth();
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    CHECK(plugin);
    int (*call)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(plugin, "plugin_call");
    int (*thread)(void) = (int (*)(void))dlsym(plugin, "plugin_thread");
    CHECK(call && thread && call(back, 41) == 42 && thread() == 0);
    CHECK(depth() == outside);
#ifdef WITH_RUNTIME
    CHECK(inside == outside + 1);
    CHECK(dh_threads_count() == 2);
    CHECK(*(uint32_t *)dlsym(plugin, "plugin_early_depth") != DH_DEPTH_NONE); /* connected before constructors */
    dlclose(plugin); /* its thread's stack must still name it */
#endif
    return 0;
}
