/* Made on first use, by whoever finds it missing: two may find it missing.
 * Expected: assertion at `only one`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int exists, made;

static void make(void)
{
    int before = made++;
    assert(before == 0); /* only one */
    exists = 1;
}

static void *user(void *arg)
{
    if (!exists) {
        pthread_mutex_lock(&lock);
#ifdef FIXED
        if (!exists)
#endif
            make();
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    RUN(user, user);
    return 0;
}
