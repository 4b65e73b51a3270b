/* A child that sleeps for ever, and a parent that waits for it.
 * Refused: natively it does not end within|the child process child_never_end does not end */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *waits(void *p)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* not for ever, where tests run */
        for (;;)
            sleep(1000);
    }
    waitpid(child, 0, 0);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waits, 0);
    pthread_join(t, 0);
    return 0;
}
