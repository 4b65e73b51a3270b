/* Two races, for suppressions to keep quiet: on `count` in raise_count, on `limit` in lower_limit. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int count, limit;

__attribute__((noinline)) static void raise_count(void)
{
    count++;
}
__attribute__((noinline)) static void lower_limit(void)
{
    limit--;
}

static void *changer(void *turn)
{
    if (turn)
        invisible_await(1);
    raise_count();
    lower_limit();
    invisible_say(1);
    return NULL;
}

static int race(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, changer, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("end");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "chdir") == 0 && chdir("/") != 0)
        return 3;
    race();
    if (argc < 2 || strcmp(argv[1], "fork") != 0)
        return 0;
    int status;
    fflush(stdout);
    if (fork() == 0)
        return race();
    wait(&status);
    return status != 0;
}
