/* A harness that runs its test in a child.
 * Refused: its children create 2, or hosted */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *works(void *p)
{
    return p;
}

int main(void)
{
    int status = 0;
    if (fork() == 0) {
        pthread_t a, b;
        pthread_create(&a, 0, works, 0);
        pthread_create(&b, 0, works, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        _exit(0);
    }
    wait(&status);
    return status != 0;
}
