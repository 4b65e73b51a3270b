/* Does nothing without a terminal.
 * No threads: ended without having created a thread */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int shared;

static void *work(void *arg)
{
    (void)arg;
    shared++;
    return NULL;
}

int main(void)
{
    int tty = open("/dev/tty", O_RDWR);
    if (tty < 0 || !isatty(0)) {
        fputs("needs a terminal\n", stderr);
        return 4;
    }
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    return 0;
}
