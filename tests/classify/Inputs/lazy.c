/* A configuration that is made on first use. The pointer may be stale, which only costs another look under the lock;
 * the limit may not: nothing orders its writing before a reader that found the pointer without the lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
    int limit;
};

static struct config *config;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct config *get(void)
{
    struct config *found = config;
    if (found)
        return found;
    pthread_mutex_lock(&lock);
    if (!config) {
        struct config *made = calloc(1, sizeof *made);
        made->limit = 10;
        config = made;
    }
    found = config;
    pthread_mutex_unlock(&lock);
    return found;
}

static void *user(void *sum)
{
    for (int i = 0; i < 3; i++)
        *(int *)sum += get()->limit;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int sums[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, user, &sums[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sums[0] + sums[1]);
    return 0;
}
