/* Threads of every kind, with names, parents and states that the test script knows. */
#include "by_hand.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/prctl.h>
#include <threads.h>
#include <unistd.h>

static sem_t forever, ready, named;

static void *child(void *arg)
{
    return arg;
}

NOINLINE static void *parent(void *arg)
{
    ENTER;
    pthread_t t;
    void *result;
    sem_wait(&named);
    CHECK(pthread_create(&t, NULL, child, (void *)42) == 0);
    CHECK(pthread_join(t, &result) == 0 && result == (void *)42);
    LEAVE;
    return arg;
}

static void *by_prctl(void *arg)
{
    prctl(PR_SET_NAME, "by-prctl");
    return arg;
}

static void *waiter(void *arg)
{
    sem_post(&ready);
    sem_wait(&forever);
    return arg;
}

static int c11(void *arg)
{
    return *(int *)arg;
}

NOINLINE static void start_parent(pthread_t *t)
{
    ENTER;
    CHECK(pthread_create(t, NULL, parent, NULL) == 0);
    LEAVE;
}

int main(void)
{
    ENTER;
    pthread_t t;
    sem_init(&forever, 0, 0);
    sem_init(&ready, 0, 0);
    sem_init(&named, 0, 0);
    start_parent(&t); /* 1; its child is 2 */
    CHECK(pthread_setname_np(t, "parent") == 0);
    sem_post(&named);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, by_prctl, NULL); /* 3 */
    pthread_join(t, NULL);
    pthread_create(&t, NULL, waiter, NULL); /* 4, detached at once and still running */
    pthread_detach(t);
    sem_wait(&ready);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 16384);
    pthread_create(&t, &attr, waiter, NULL); /* 5, detached by attribute, smallest stack */
    sem_wait(&ready);
    thrd_t c;
    int result, seven = 7;
    CHECK(thrd_create(&c, c11, &seven) == thrd_success); /* 6 */
    CHECK(thrd_join(c, &result) == thrd_success && result == 7);
    pthread_attr_setstacksize(&attr, (size_t)1 << 46);
    CHECK(pthread_create(&t, &attr, waiter, NULL) != 0); /* cannot be: takes no number */
    pthread_create(&t, NULL, waiter, NULL);              /* 7, running */
    sem_wait(&ready);
    CHECK(pthread_tryjoin_np(t, NULL) != 0);
    LEAVE;
    return 3;
}
