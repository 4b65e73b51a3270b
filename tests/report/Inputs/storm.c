/* Many reports at once, while timers fire, children are forked and waited for: each child is the program's own, none is
 * lost, and every pair is told once. */
#include "order.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES = 6, CHILDREN = 40 };

static int shared[PLACES];
static volatile sig_atomic_t ticks;

#define PLACE(n)                                                                                                       \
    static void touch##n(void)                                                                                         \
    {                                                                                                                  \
        shared[n] += n + 1;                                                                                            \
    }
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)
PLACE(4)
PLACE(5)
static void (*const touch[PLACES])(void) = {touch0, touch1, touch2, touch3, touch4, touch5};

static void on_tick(int number)
{
    (void)number;
    ticks++;
}

static void *worker(void *arg)
{
    for (int round = 0; round < 50; round++)
        for (int i = 0; i < PLACES; i++)
            touch[i]();
    return arg;
}

static int own_children(void)
{
    int strangers = 0;
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(7);
        pid_t got;
        do
            got = wait(&status);
        while (got < 0 && errno == EINTR);
        strangers += got != child || WEXITSTATUS(status) != 7;
    }
    return strangers;
}

int main(void)
{
    pthread_t t[4];
    struct itimerval every = {{0, 1000}, {0, 1000}};
    struct sigaction a = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    int strangers = own_children();
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    printf("strangers %d, ticks %s\n", strangers, ticks ? "some" : "none");
    return 0;
}
