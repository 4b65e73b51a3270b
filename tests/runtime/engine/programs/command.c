/* A command that a thread starts lives, and is run once only: later schedules know how it ended. A replay runs it again.
 * before: rm -f ran
 * drive: --schedules=100
 * expect: ends: assertion 100$
 * after: test "$(cat ran)" = once
 * replay: found assertion */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

static void *starts(void *a)
{
    int status = system("echo once >>ran; exit 3");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
        abort();
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, starts, 0);
    pthread_join(t, 0);
}
