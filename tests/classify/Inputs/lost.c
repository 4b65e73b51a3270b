/* An update without a lock: one of two is lost in some order of the threads, no stale value is needed. */
#include <pthread.h>
#include <stdio.h>

static int total;

static void *add(void *unused)
{
    total += 5;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d\n", total);
    return total != 10;
}
