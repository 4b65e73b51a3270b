/* A child that never ends and that nobody waits for: natively it outlives the program.
 * Refused: the child process child_left_behi does not end */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *leaves(void *p)
{
    if (fork() == 0) {
        alarm(20); /* not for ever, where tests run */
        for (;;)
            sleep(1000);
    }
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, leaves, 0);
    pthread_join(t, 0);
    return 0;
}
