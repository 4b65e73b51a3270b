/* A thread lowers a limit of the process.
 * Refused: (prlimit64|setrlimit) at .*limits_in_thread\.c:\d+, or hosted */
#include <pthread.h>
#include <sys/resource.h>

static void *lowers(void *p)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, lowers, 0);
    pthread_join(t, 0);
    return 0;
}
