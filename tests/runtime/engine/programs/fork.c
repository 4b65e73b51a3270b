/* A thread that forks: what the child does cannot be taken back, which is said with its place.
 * drive: --schedules=300
 * expect: state: cannot explore: (clone|fork) at place
 * status: 1 */
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
