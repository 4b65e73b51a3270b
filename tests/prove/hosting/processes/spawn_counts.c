/* Two threads each run a command and wait for it; the number of commands that ended well is counted without a lock.
 * Expected: assertion. Also: race on `succeeded`. */
#include "threads.h"

#include <assert.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
static int succeeded;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *runner(void *arg)
{
    char *words[] = {"true", NULL};
    int status = 1;
    pid_t child;
    if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) == 0)
        waitpid(child, &status, 0);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (status == 0)
        succeeded++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    RUN(runner, runner);
    assert(succeeded == 2);
    return 0;
}
