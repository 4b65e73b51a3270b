/* Watches a folder by inotify.
 * Refused: inotify_init1 at .*watches_folder\.c:\d+, or hosted */
#include <pthread.h>
#include <sys/inotify.h>
#include <unistd.h>

static void *watches(void *p)
{
    int fd = inotify_init1(IN_NONBLOCK);
    int w = inotify_add_watch(fd, ".", IN_CREATE);
    close(fd);
    return w < 0 ? (void *)1 : p;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, 0, watches, 0);
    pthread_join(t, &result);
    return result != 0;
}
