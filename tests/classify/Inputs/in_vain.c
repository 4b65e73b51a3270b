/* A compare-exchange in vain is a load, ordered as it says for that case: relaxed, it does not show what was published.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifndef FAILURE
#define FAILURE memory_order_relaxed
#endif

static int message;
static atomic_int owner;

static void *writer(void *arg)
{
    message = 1;
    atomic_store_explicit(&owner, 1, memory_order_release);
    return arg;
}

static void *reader(void *arg)
{
    int nobody = 0;
    if (!atomic_compare_exchange_strong_explicit(&owner, &nobody, 2, memory_order_acq_rel, FAILURE))
        assert(message == 1);
    return arg;
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    puts("ok");
}
