/* A thread replaces the program by another one.
 * Refused: execve at .*executes_in_thread\.c:\d+ */
#include <pthread.h>
#include <unistd.h>

static void *executes(void *p)
{
    execl("/bin/true", "true", (char *)0);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, executes, 0);
    pthread_join(t, 0);
    return 1;
}
