/* A thread begins a session of its own, which cannot be ended again.
 * Refused: setsid at .*new_session\.c:\d+, or hosted */
#include <pthread.h>
#include <unistd.h>

static int begun;

static void *begins(void *p)
{
    begun = setsid() > 0;
    return p;
}

int main(void)
{
    pthread_t t;
    setpgid(0, 0);
    if (fork() == 0)
        _exit(0);
    pthread_create(&t, 0, begins, 0);
    pthread_join(t, 0);
    return 0;
}
