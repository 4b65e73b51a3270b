/* A future that is to be set once: both setters find it unset. Who reads it twice sees two values.
 * Expected: assertion at `changed`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

static atomic_int state, value;

static void *setter(void *arg)
{
#ifdef FIXED
    int unset = 0;
    if (atomic_compare_exchange_strong(&state, &unset, 1)) {
#else
    if (state == 0) {
        state = 1;
#endif
        value = 10 + (int)(long)arg;
        state = 2;
    }
    return arg;
}

static void *reader(void *arg)
{
    if (state == 2) {
        int first = value, again = value;
        assert(first == again); /* changed */
    }
    return arg;
}

int main(void)
{
    RUN(setter, setter, reader);
    return 0;
}
