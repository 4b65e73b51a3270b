/* A thread shuts itself in.
 * Refused: a seccomp filter of its own at .*seccomp_in_thread\.c:\d+ */
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *shuts(void *p)
{
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) ? (void *)1 : p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, shuts, 0);
    pthread_join(t, 0);
    return 0;
}
