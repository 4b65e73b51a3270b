/* What is only looked up is counted, under a read lock.
 * Expected: race on `lookups` at `count`. */
#include "threads.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int lookups;

static void *reader(void *arg)
{
#ifdef FIXED
    pthread_rwlock_wrlock(&lock);
#else
    pthread_rwlock_rdlock(&lock);
#endif
    lookups++; /* count */
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(reader, reader);
    return 0;
}
