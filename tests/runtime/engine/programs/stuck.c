/* A loop in which nothing that is looked at happens ends, too.
 * drive: --schedules=3 --hang-ms=300
 * expect: found hang
 * replay-options: --hang-ms=300
 * replay: found hang */
#include <pthread.h>

static void *loops(void *a)
{
    for (;;)
        __asm__ volatile("");
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, loops, 0);
    pthread_join(t, 0);
}
