/* Writer and reader share a counter without a lock. How the program ends is its argument. */
#include "order.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;

static void *writer(void *arg)
{
    counter += 7;
    step_done(0);
    return arg;
}

static void end(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(4);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(4);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "thread") == 0)
        pthread_exit(NULL);
    if (strcmp(how, "exec") == 0)
        execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
}

/* A child that races by itself and one that does not: the first one's exit code changes. */
static int children(void)
{
    int status;
    if (fork() == 0)
        _exit(5);
    wait(&status);
    printf("idle child %d\n", WEXITSTATUS(status));
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t t;
    const char *how = argc > 1 ? argv[1] : "";
    pthread_create(&t, NULL, writer, NULL);
    wait_step(0);
    printf("counter %d\n", counter); /* in the buffer when the report comes */
    if (strcmp(how, "children") == 0)
        return children();
    end(how);
    pthread_join(t, NULL);
    return 0;
}
