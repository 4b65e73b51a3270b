/* An order is given to a thread and freed by who gave it: while the thread is at work on it, or with FIXED when it was joined. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct order {
    long amount;
};

static void *deliver(void *given)
{
    struct order *o = given;
    printf("%ld\n", o->amount);
    return NULL;
}

int main(void)
{
    pthread_t van;
    struct order *o = calloc(1, sizeof *o);
    pthread_create(&van, NULL, deliver, o);
#ifdef FIXED
    pthread_join(van, NULL);
    free(o);
#else
    free(o);
    pthread_join(van, NULL);
#endif
    return 0;
}
