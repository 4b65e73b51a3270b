/* The report of a sum is printed with whatever is there: more or less than all is for an oracle to judge. */
#include <pthread.h>
#include <stdio.h>

static int parts;

static void *counter(void *arg)
{
    parts++;
    return arg;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, counter, NULL);
    pthread_create(&other, NULL, counter, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("sum %d\n", parts);
    return 0;
}
