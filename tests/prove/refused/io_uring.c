/* A queue of the kernel's own, which nobody can take back.
 * Refused: io_uring_setup at .*io_uring\.c:\d+, or hosted */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *works(void *p)
{
    char parameters[120];
    memset(parameters, 0, sizeof parameters);
    pthread_mutex_lock(&lock);
    turns++;
    pthread_mutex_unlock(&lock);
    long ring = syscall(SYS_io_uring_setup, 4, parameters);
    if (ring >= 0)
        close((int)ring);
    return p;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, works, 0);
    pthread_create(&b, 0, works, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return turns != 2;
}
