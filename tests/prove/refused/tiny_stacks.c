/* Threads with the smallest stacks that there are. Hosted. */
#include <limits.h>
#include <pthread.h>

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
    pthread_t t[3];
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], &a, works, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return turns != 3;
}
