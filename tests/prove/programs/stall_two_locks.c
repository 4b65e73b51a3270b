/* Two clerks take two locks in opposite orders, while the main thread polls for both to be through.
 * Expected: deadlock at `second` and `first`. */
#include "threads.h"

#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t in = PTHREAD_MUTEX_INITIALIZER, out = PTHREAD_MUTEX_INITIALIZER;
static atomic_int through, polls;

static void *receive(void *arg)
{
    pthread_mutex_lock(&in);
    pthread_mutex_lock(&out); /* second */
    pthread_mutex_unlock(&out);
    pthread_mutex_unlock(&in);
    through++;
    return arg;
}

static void *send(void *arg)
{
#ifdef FIXED
    return receive(arg);
#endif
    own_work();
    pthread_mutex_lock(&out);
    pthread_mutex_lock(&in); /* first */
    pthread_mutex_unlock(&in);
    pthread_mutex_unlock(&out);
    through++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, receive, NULL);
    pthread_create(&b, NULL, send, NULL);
    while (through < 2) {
        polls++;
        sleep(5);
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
