// Thread cancellation: deferred at cancellation points, disabled, cleanup handlers, destructors of keys.
// FLAGS: -pthread
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static int log_at, waiting;
static char log_text[32];

static void note(void *what)
{
    log_text[log_at++] = *(char *)what;
}
static void unlock(void *m)
{
    pthread_mutex_unlock(m);
}
static void *waiter(void *arg)
{
    (void)arg;
    pthread_setspecific(key, "K");
    pthread_cleanup_push(note, "a");
    pthread_cleanup_push(note, "b");
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    waiting = 1;
    pthread_cond_broadcast(&cond);
    for (;;)
        pthread_cond_wait(&cond, &lock);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return NULL;
}
static void *stubborn(void *arg)
{
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    pthread_cleanup_push(note, "c");
    pthread_barrier_wait(arg);
    usleep(1000);
    pthread_cleanup_pop(0);
    note("d");
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    pthread_testcancel();
    note("never");
    return NULL;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_key_create(&key, note);
    pthread_create(&t, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    while (!waiting)
        pthread_cond_wait(&cond, &lock);
    pthread_mutex_unlock(&lock);
    pthread_cancel(t);
    pthread_join(t, &result);
    printf("%s %d %d\n", log_text, result == PTHREAD_CANCELED, pthread_mutex_trylock(&lock));
    pthread_barrier_t b;
    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&t, NULL, stubborn, &b);
    pthread_cancel(t);
    pthread_barrier_wait(&b);
    pthread_join(t, &result);
    printf("%s %d\n", log_text, result == PTHREAD_CANCELED);
    return 0;
}
