/* Processes that a recorded program makes: children with the lock held, and what is executed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *counter(void *unused)
{
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&mutex);
        shared++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void in_child(char **argv, int execute, int create)
{
    pthread_t t;
    shared += 1000;
    pthread_mutex_unlock(&mutex);
    if (!create) {
        counter(NULL);
        _exit(6);
    }
    pthread_create(&t, NULL, counter, NULL);
    pthread_join(t, NULL);
    if (execute)
        execl(argv[0], argv[0], "executed", NULL);
    exit(4);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        shared = 7;
        return 5;
    }
    pthread_t t;
    pthread_create(&t, NULL, counter, NULL);
    for (int i = 0; i < 3; i++) {
        int status;
        pthread_mutex_lock(&mutex);
        pid_t child = i == 2 ? _Fork() : fork();
        if (child == 0)
            in_child(argv, i == 1, i < 2);
        pthread_mutex_unlock(&mutex);
        waitpid(child, &status, 0);
        printf("%d\n", WEXITSTATUS(status));
    }
    pthread_join(t, NULL);
    return 0;
}
