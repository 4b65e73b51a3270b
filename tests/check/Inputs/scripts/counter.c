/* Two threads add without a lock, as often as the argument and standard input say: a race on `count`. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int count, times;

static void *adder(void *arg)
{
    for (int i = 0; i < times; i++)
        count++;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t one, other;
    int more = 0;
    times = argc > 1 ? atoi(argv[1]) : 1;
    if (argc > 2 && scanf("%d", &more) == 1)
        times += more;
    pthread_create(&one, NULL, adder, NULL);
    pthread_create(&other, NULL, adder, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    printf("%s\n", count > 0 ? "counted" : "nothing");
    return 0;
}
