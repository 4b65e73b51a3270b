/* The reader's copy is too short by a member: its sanitizer sees it, also where the copy is made by the runtime. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct box {
    int first, second, third, fourth;
};

static struct box shared;

static void *writer(void *arg)
{
    shared.first = 1;
    return arg;
}

static void *reader(void *missing)
{
    struct box *mine = malloc(sizeof *mine - (missing ? sizeof(int) : 0));
    memcpy(mine, &shared, sizeof *mine);
    printf("%d\n", mine->second);
    free(mine);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t w, r;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, argc > 1 ? argv : NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
}
