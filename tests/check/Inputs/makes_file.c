/* Makes a file that may not be there yet, then counts in a thread. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int count;

static void *counter(void *arg)
{
    count++;
    return arg;
}

int main(void)
{
    pthread_t t;
    int fd = open("made", O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0)
        return 17;
    pthread_create(&t, NULL, counter, NULL);
    pthread_join(t, NULL);
    return write(fd, "1\n", 2) != 2;
}
