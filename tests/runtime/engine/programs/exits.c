/* The ways out: main leaves by pthread_exit, another thread calls exit, handlers run; every schedule ends well.
 * drive: --schedules=300
 * expect: ends: done 300$ */
#include <pthread.h>
#include <stdlib.h>

static int handled;
static pthread_key_t key;

static void handler(void)
{
    handled++;
}

static void cleaned(void *value)
{
    ++*(int *)value;
}

static void *last(void *a)
{
    pthread_join(*(pthread_t *)a, NULL);
    exit(handled);
}

int main(void)
{
    static pthread_t self, other;
    static int clean;
    self = pthread_self();
    atexit(handler);
    pthread_key_create(&key, cleaned);
    pthread_setspecific(key, &clean);
    pthread_create(&other, 0, last, &self);
    pthread_cleanup_push(cleaned, &clean);
    pthread_exit(0);
    pthread_cleanup_pop(0);
}
