/* The flag that says `the settings are there` is raised before they are.
 * Expected: crash at `use`. */
#include "threads.h"

#include <stdatomic.h>

struct settings {
    int port;
};

static atomic_int initialised;
struct settings *_Atomic settings;
static atomic_int port;

static void *initialiser(void *arg)
{
    static struct settings made = {80};
#ifdef FIXED
    settings = &made;
    initialised = 1;
#else
    initialised = 1;
    settings = &made;
#endif
    return arg;
}

static void *server(void *arg)
{
    if (initialised)
        port = settings->port; /* use */
    return arg;
}

int main(void)
{
    RUN(initialiser, server);
    return port > 80;
}
