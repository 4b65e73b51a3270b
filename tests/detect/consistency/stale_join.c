/* Main looks at the sum, has another thread add to it, and when that has ended writes what it knew before. A join
 * orders all of it; what the thread added is lost all the same.
 * Expected: a suspected atomicity on `sum`. */
#include <pthread.h>
#include <stdio.h>

static long sum = 5;

static void *adder(void *arg)
{
    for (int i = 0; i < 10; i++)
        sum += 2;
    return arg;
}

static void settle(long more)
{
    pthread_t thread;
    long had = sum;
    pthread_create(&thread, NULL, adder, NULL);
    pthread_join(thread, NULL);
    sum = had + more;
}

int main(void)
{
    settle(3);
    printf("%ld\n", sum);
    return 0;
}
