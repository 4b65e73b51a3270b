/* The request flag is cleared after the work, not before: a request that comes during the work is cleared with it.
 * Expected: assertion at `all heard`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

static atomic_int requested, wanted, given;

static void *client(void *arg)
{
    wanted = 1;
    requested = 1;
    wanted = 2;
    requested = 1;
    return arg;
}

static void serve(void)
{
    if (!requested)
        return;
#ifdef FIXED
    requested = 0;
    given = wanted;
#else
    given = wanted;
    requested = 0;
#endif
}

static void *server(void *arg)
{
    serve();
    return arg;
}

int main(void)
{
    RUN(client, server);
    serve();
    assert(given == 2); /* all heard */
    return 0;
}
