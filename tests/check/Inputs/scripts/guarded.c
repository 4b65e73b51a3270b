/* The same with a lock: nothing to find. */
#include <pthread.h>

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *arg)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, adder, NULL);
    pthread_create(&other, NULL, adder, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return count != 2;
}
