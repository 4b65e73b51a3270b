/* Two threads add timers and one-time events to a loop that another thread runs; a third one breaks the loop when all
 * of them were called. */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>

enum { ADDERS = 2, CALLS = 2 * ADDERS };

static struct event_base *base;
static struct event *timers[ADDERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int calls;

static void call(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    pthread_mutex_lock(&lock);
    calls++;
    pthread_cond_signal(&called);
    pthread_mutex_unlock(&lock);
}

static void *adder(void *arg)
{
    struct timeval soon = {0, 1000};
    event_add(*(struct event **)arg, &soon);
    event_base_once(base, -1, EV_TIMEOUT, call, NULL, &soon);
    return NULL;
}

static void *stopper(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (calls < CALLS)
        pthread_cond_wait(&called, &lock);
    pthread_mutex_unlock(&lock);
    event_base_loopbreak(base);
    return NULL;
}

int main(void)
{
    pthread_t threads[ADDERS + 1];
    evthread_use_pthreads();
    base = event_base_new();
    if (!base || evthread_make_base_notifiable(base) < 0)
        return 2;
    for (int i = 0; i < ADDERS; i++)
        timers[i] = event_new(base, -1, 0, call, NULL);
    for (int i = 0; i < ADDERS; i++)
        pthread_create(&threads[i], NULL, adder, &timers[i]);
    pthread_create(&threads[ADDERS], NULL, stopper, NULL);
    event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
    for (int i = 0; i < ADDERS + 1; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ADDERS; i++)
        event_free(timers[i]);
    event_base_free(base);
    printf("%d calls\n", calls);
    return calls != CALLS;
}
