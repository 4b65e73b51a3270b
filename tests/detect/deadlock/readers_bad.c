/* Each reads under one lock and writes under the other: a reader keeps the writer waiting.
 * Expected: deadlock suspected at `want` and `want too`. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t checking = PTHREAD_RWLOCK_INITIALIZER, savings = PTHREAD_RWLOCK_INITIALIZER;
static int money[2] = {3, 5}, seen;

static void *saver(void *arg)
{
    pthread_rwlock_rdlock(&checking);
    pthread_rwlock_wrlock(&savings); /* want too */
    seen = money[0] + money[1] > 8;
    pthread_rwlock_unlock(&savings);
    pthread_rwlock_unlock(&checking);
    invisible_reach(1);
    return arg;
}

static void *spender(void *arg)
{
    invisible_await(1); /* later, but nothing that a detector sees says so */
    pthread_rwlock_rdlock(&savings);
    pthread_rwlock_wrlock(&checking); /* want */
    seen = money[0] + money[1] > 8;
    pthread_rwlock_unlock(&checking);
    pthread_rwlock_unlock(&savings);
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
