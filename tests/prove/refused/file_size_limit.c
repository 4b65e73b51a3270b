/* Writes more than it may (RLIMIT_FSIZE): the write fails as it does natively. Hosted. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static void *writes(void *p)
{
    static char block[4096];
    int fd = open("made.txt", O_RDWR | O_CREAT, 0600), failed = 0;
    for (int i = 0; i < 4; i++)
        if (write(fd, block, sizeof block) != sizeof block)
            failed = errno;
    unlink("made.txt");
    close(fd);
    return failed == EFBIG ? p : (void *)1;
}

int main(void)
{
    struct rlimit two = {8192, 8192};
    pthread_t t;
    void *result;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &two);
    pthread_create(&t, 0, writes, 0);
    pthread_join(t, &result);
    return result != 0;
}
