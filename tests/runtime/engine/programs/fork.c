/* A thread that forks and waits: its child runs for real in every schedule, and is gone after it.
 * drive: --schedules=300
 * expect: ends: done 300 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *forks(void *a)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, 0, 0);
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, forks, 0);
    pthread_join(t, 0);
}
