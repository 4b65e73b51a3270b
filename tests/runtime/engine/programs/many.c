/* Two hundred threads at a time, and their thread-local variables.
 * drive: --schedules=40
 * expect: threads at most 201
 * expect: ends: done 40$ */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum { N = 200 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;
static __thread int own = 5;

static void *adds(void *a)
{
    if (own != 5)
        abort();
    own = (int)(long)a;
    errno = own;
    pthread_mutex_lock(&m);
    total++;
    pthread_mutex_unlock(&m);
    if (own != (int)(long)a || errno != own)
        abort();
    return malloc(100);
}

int main(void)
{
    pthread_t t[N];
    void *block;
    for (long i = 0; i < N; i++)
        if (pthread_create(&t[i], 0, adds, (void *)i))
            abort();
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], &block);
        free(block);
    }
    if (total != N || own != 5)
        abort();
}
