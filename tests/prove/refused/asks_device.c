/* ioctl of a device: nobody can take back what it does.
 * Refused: ioctl at .*asks_device\.c:\d+, or hosted */
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void *asks(void *p)
{
    int unlocked = 0, fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    if (fd >= 0)
        ioctl(fd, TIOCSPTLCK, &unlocked);
    close(fd);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, asks, 0);
    pthread_join(t, 0);
    return 0;
}
