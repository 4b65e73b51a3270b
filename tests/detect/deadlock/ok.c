/* The twin of bad.c: both take `checking` first.
 * Expected: nothing. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t checking = PTHREAD_MUTEX_INITIALIZER, savings = PTHREAD_MUTEX_INITIALIZER;
static int money[2];

static void *saver(void *arg)
{
    pthread_mutex_lock(&checking);
    pthread_mutex_lock(&savings);
    money[0]--, money[1]++;
    pthread_mutex_unlock(&savings);
    pthread_mutex_unlock(&checking);
    invisible_reach(1);
    return arg;
}

static void *spender(void *arg)
{
    invisible_await(1); /* later, but nothing that a detector sees says so */
    pthread_mutex_lock(&checking);
    pthread_mutex_lock(&savings);
    money[1]--, money[0]++;
    pthread_mutex_unlock(&checking);
    pthread_mutex_unlock(&savings);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, saver, NULL);
    pthread_create(&b, NULL, spender, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("over");
    return 0;
}
