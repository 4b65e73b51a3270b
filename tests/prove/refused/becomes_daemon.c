/* Leaves its terminal and its parent before its threads. Hosted. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *works(void *p)
{
    pthread_mutex_lock(&lock);
    turns++;
    pthread_mutex_unlock(&lock);
    return p;
}

int main(void)
{
    pthread_t t[2];
    if (daemon(1, 0))
        return 2;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, works, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return turns != 2;
}
