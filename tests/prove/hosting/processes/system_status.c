/* The last command's status is kept in one place for all threads.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

static atomic_int last_status;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *runner(void *arg)
{
    int mine = (int)(long)arg;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    last_status = WEXITSTATUS(system(mine ? "exit 1" : "exit 0"));
    assert(last_status == mine);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    RUN(runner, runner);
    return 0;
}
