/* A lock keeps reader and releaser apart, which does not bring the block back. finds: use-after-free */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block;

static void *releaser(void *arg)
{
    pthread_mutex_lock(&lock);
    free(block);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t;
    block = malloc(64);
    block[1] = 5;
    pthread_create(&t, NULL, releaser, NULL);
    pthread_join(t, NULL);
    pthread_mutex_lock(&lock);
    int seen = block[1];
    pthread_mutex_unlock(&lock);
    printf("%d\n", seen != 12345);
    return 0;
}
