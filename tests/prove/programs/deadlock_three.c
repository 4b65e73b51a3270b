/* Scanner, printer and fax are taken in a ring by three jobs; no two of them alone can block each other.
 * Expected: deadlock at `copy`, `receive` and `send`. */
#include "threads.h"

static pthread_mutex_t scanner = PTHREAD_MUTEX_INITIALIZER, printer = PTHREAD_MUTEX_INITIALIZER,
                       fax = PTHREAD_MUTEX_INITIALIZER;
static int pages;

static void *copy(void *arg)
{
    pthread_mutex_lock(&scanner);
    pthread_mutex_lock(&printer); /* copy */
    pthread_mutex_unlock(&printer);
    pthread_mutex_unlock(&scanner);
    return arg;
}

static void *receive(void *arg)
{
    pthread_mutex_lock(&printer);
    pthread_mutex_lock(&fax); /* receive */
    pages++;
    pthread_mutex_unlock(&fax);
    pthread_mutex_unlock(&printer);
    return arg;
}

static void *send(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&scanner);
    pthread_mutex_lock(&fax);
#else
    pthread_mutex_lock(&fax);
    pthread_mutex_lock(&scanner); /* send */
#endif
    pages--;
    pthread_mutex_unlock(&scanner);
    pthread_mutex_unlock(&fax);
    return arg;
}

int main(void)
{
    RUN(copy, receive, send);
    return 0;
}
