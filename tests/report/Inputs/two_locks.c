/* Two clerks take the two keys of a safe in opposite orders: one after the other, or ("dead") at the same time. */
#include "order.h"
#include <pthread.h>
#include <string.h>

static pthread_mutex_t upper = PTHREAD_MUTEX_INITIALIZER, lower = PTHREAD_MUTEX_INITIALIZER;
static int at_once;

static void *first_clerk(void *arg)
{
    pthread_mutex_lock(&upper);
    if (at_once) {
        step_done(1);
        wait_step(2);
    }
    pthread_mutex_lock(&lower);
    pthread_mutex_unlock(&lower);
    pthread_mutex_unlock(&upper);
    step_done(3);
    return arg;
}

static void *second_clerk(void *arg)
{
    if (!at_once)
        wait_step(3);
    pthread_mutex_lock(&lower);
    if (at_once) {
        wait_step(1);
        step_done(2);
    }
    pthread_mutex_lock(&upper);
    pthread_mutex_unlock(&upper);
    pthread_mutex_unlock(&lower);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    at_once = argc > 1 && strcmp(argv[1], "dead") == 0;
    pthread_create(&a, NULL, first_clerk, NULL);
    pthread_create(&b, NULL, second_clerk, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
