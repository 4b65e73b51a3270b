// -fsanitize=address,undefined beside us: a clean run stays clean.
// FLAGS: -fsanitize=address,undefined -fno-sanitize-recover=all -pthread
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int global[10];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    int *heap = malloc(100 * sizeof *heap), local[20];
    for (int i = 0; i < 100; i++)
        heap[i] = i;
    memset(local, 0, sizeof local);
    memcpy(local, heap + 80, sizeof local);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 10; i++)
        global[i] += local[i] + *(int *)arg;
    pthread_mutex_unlock(&lock);
    free(heap);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int args[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &args[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    char *text = strdup("clean");
    printf("%d %d %s\n", global[0], global[9], text);
    free(text);
    return 0;
}
