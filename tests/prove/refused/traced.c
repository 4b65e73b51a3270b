/* Wants to be debugged by its parent.
 * Refused: ptrace at .*traced\.c:\d+, or hosted */
#include <pthread.h>
#include <sys/ptrace.h>

static void *works(void *p)
{
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    return 0;
}
