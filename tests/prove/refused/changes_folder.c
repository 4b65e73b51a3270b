/* A thread works in another folder: the tool and the user's files stay where they are. Hosted. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void *changes(void *p)
{
    if (chdir("/tmp"))
        return p;
    int fd = open("deadheat-made-by-test.txt", O_RDWR | O_CREAT, 0600);
    return fd < 0 ? p : 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, changes, 0);
    pthread_join(t, 0);
    return access("deadheat-made-by-test.txt", F_OK) != 0;
}
