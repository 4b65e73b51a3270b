/* A thread changes the root of the file system.
 * Refused: chroot at .*changes_root\.c:\d+, or hosted */
#include <pthread.h>
#include <unistd.h>

static void *changes(void *p)
{
    if (chroot("."))
        return p;
    return chdir("/") ? p : 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, changes, 0);
    pthread_join(t, 0);
    return 0;
}
