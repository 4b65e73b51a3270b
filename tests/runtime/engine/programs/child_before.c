/* A child from before the first thread lives and is waited for in every schedule.
 * drive: --schedules=50
 * expect: ends: assertion 50$
 * replay: found assertion */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void *waits(void *a)
{
    int status;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 6)
        abort();
    return a;
}

int main(void)
{
    pthread_t t;
    child = fork();
    if (child == 0) {
        usleep(50000);
        _exit(6);
    }
    pthread_create(&t, 0, waits, 0);
    pthread_join(t, 0);
}
