/* Removes one file and makes another after its threads: the user's stay as they are. Hosted. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *works(void *p)
{
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    int fd = open("made.txt", O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1)
        return 1;
    close(fd);
    return unlink("kept.txt") != 0;
}
