/* Threads that never end: no schedule has an end to be compared.
 * Refused: natively it does not end within */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned turns;

static void *works(void *p)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        turns++;
        pthread_mutex_unlock(&lock);
        usleep(1000);
    }
    return p;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, works, 0);
    pthread_create(&b, 0, works, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
