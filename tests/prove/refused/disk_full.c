/* There is no room for what it writes, natively and in the engine. Hosted. */
#include <errno.h>
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
    int fd = open("/dev/full", O_WRONLY);
    int full = write(fd, "x", 1) < 0 && errno == ENOSPC;
    close(fd);
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    puts(full ? "full" : "not full");
    return 0;
}
