/* fork with both sides going on and finding the race of their own; vfork and posix_spawn while threads run. */
#include "order.h"

#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int in_parent, in_child, shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
extern char **environ;

static void *touch_parent(void *arg)
{
    in_parent++;
    step_done((int)(long)arg);
    return arg;
}

static void *touch_child(void *arg)
{
    in_child++;
    step_done((int)(long)arg);
    return arg;
}

static void race(void *(*touch)(void *), int *variable, int step)
{
    pthread_t t;
    pthread_create(&t, NULL, touch, (void *)(long)step);
    wait_step(step);
    ++*variable;
    pthread_join(t, NULL);
}

static void *work(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static int code_of(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        abort();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static pid_t by_fork(char **words)
{
    pid_t child = fork();
    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    return child;
}

static pid_t by_vfork(char **words)
{
    pid_t child = vfork();
    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    return child;
}

static pid_t by_spawn(char **words)
{
    pid_t child;
    return posix_spawn(&child, words[0], NULL, NULL, words, environ) == 0 ? child : -1;
}

static int both(int racy)
{
    int all = 0;
    if (racy)
        race(touch_parent, &in_parent, 0);
    pthread_mutex_lock(&lock); /* or the child may find it held by a thread that it does not have */
    pid_t child = fork();
    pthread_mutex_unlock(&lock);
    if (child == 0) {
        pthread_t t;
        pthread_create(&t, NULL, work, NULL);
        work(NULL);
        pthread_join(t, NULL);
        if (racy)
            race(touch_child, &in_child, 1);
        exit(0);
    }
    work(NULL);
    all = code_of(child);
    printf("child ended with %d\n", all);
    return 0;
}

int main(int argc, char **argv)
{
    static pid_t (*const ways[])(char **) = {by_fork, by_vfork, by_spawn};
    if (argc > 1 && strncmp(argv[1], "both", 4) == 0) {
        pthread_t t;
        pthread_create(&t, NULL, work, NULL);
        both(argc > 2);
        pthread_join(t, NULL);
        return 0;
    }
    pthread_t t;
    char *good[] = {argv[1], NULL}, *none[] = {(char *)"/nonexistent/program", NULL};
    pthread_create(&t, NULL, work, NULL);
    for (unsigned i = 0; i < 3; i++) {
        pid_t missing = ways[i](none);
        printf("%d", code_of(ways[i](good)));
        printf(" %d\n", missing < 0 ? 127 : code_of(missing));
        pthread_mutex_lock(&lock);
        shared++;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(t, NULL);
    return 0;
}
