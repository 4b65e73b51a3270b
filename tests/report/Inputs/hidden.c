/* Reporting must not be seen: no SIGCHLD, no child to wait for, errno, descriptors and signal mask as they were. */
#include "order.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter, told;

static void on_child(int number)
{
    (void)number;
    told = 1;
}

static void *writer(void *arg)
{
    counter += 7;
    step_done(0);
    return arg;
}

static int lowest_free(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

int main(void)
{
    pthread_t t;
    sigset_t before, after, full;
    signal(SIGCHLD, on_child);
    pthread_create(&t, NULL, writer, NULL);
    wait_step(0);
    sigemptyset(&full);
    sigaddset(&full, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &full, &before);
    int fd = lowest_free();
    errno = 77;
    int seen = counter, error = errno;
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    int children = wait(NULL), why = errno;
    printf("seen %d, errno %d, descriptor %s, SIGCHLD %s, wait %d %s, mask %s\n", seen, error,
           lowest_free() == fd ? "same" : "other", told ? "came" : "none", children, why == ECHILD ? "ECHILD" : "other",
           sigismember(&after, SIGUSR1) && !sigismember(&after, SIGUSR2) ? "same" : "other");
    pthread_join(t, NULL);
    return 0;
}
