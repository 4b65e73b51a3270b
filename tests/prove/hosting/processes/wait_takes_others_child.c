/* Each of two threads starts a child and calls wait(), which answers whichever child ended: results are mixed up.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <sys/wait.h>
#include <unistd.h>

static void *runner(void *arg)
{
    int status = 0, number = (int)(long)arg;
    pid_t child = fork();
    if (child == 0)
        _exit(number);
#ifdef FIXED
    waitpid(child, &status, 0);
#else
    wait(&status);
#endif
    assert(WEXITSTATUS(status) == number);
    return NULL;
}

int main(void)
{
    RUN(runner, runner);
    return 0;
}
