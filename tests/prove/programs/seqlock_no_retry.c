/* The reader of a sequence lock looks at the sequence before it reads, but not after.
 * Expected: assertion at `torn`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int width = 1, height = 1;

static void *writer(void *arg)
{
    sequence++;
    width = 2;
    height = 2;
    sequence++;
    return arg;
}

static void *reader(void *arg)
{
    unsigned before = sequence;
    int w = width, h = height;
    if (before % 2)
        return arg;
#ifdef FIXED
    if (sequence != before)
        return arg;
#endif
    assert(w == h); /* torn */
    return arg;
}

int main(void)
{
    RUN(writer, reader);
    return 0;
}
