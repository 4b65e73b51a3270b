/* Two locks taken in both orders: each thread ends up with one and waits for the other.
 * drive: --schedules=2000
 * expect: found deadlock: .* 3 threads
 * replay: found deadlock */
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *takes(void *a)
{
    pthread_mutex_t *first = a ? &left : &right, *second = a ? &right : &left;
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return 0;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, 0, takes, 0);
    pthread_create(&other, 0, takes, "");
    pthread_join(one, 0);
    pthread_join(other, 0);
}
