/* Two closers both find the file open, and both give its buffer back.
 * Expected: use-after-free or crash at `give back`. */
#include "threads.h"

#include <stdatomic.h>

static atomic_int is_open = 1;
static char *buffer;

static void *closer(void *arg)
{
#ifdef FIXED
    if (atomic_exchange(&is_open, 0))
        free(buffer);
#else
    if (is_open) {
        is_open = 0;
        free(buffer); /* give back */
    }
#endif
    return arg;
}

int main(void)
{
    buffer = malloc(40);
    RUN(closer, closer);
    return 0;
}
