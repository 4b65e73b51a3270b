/* Threads fork and execute a command each; what its exit code means is looked up in a table that another thread clears.
 * Expected: crash or race. */
#include "threads.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *_Atomic meanings;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *runner(void *arg)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 1", (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (meanings && meanings[WEXITSTATUS(status)] == 'x')
        abort();
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *clearer(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    meanings = NULL;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    meanings = "yes no maybe";
    RUN(runner, clearer);
    return 0;
}
