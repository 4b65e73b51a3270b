/* Two threads add what was read from standard input, and from a file that is named, to a sum without a lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long sum;

static void *adder(void *value)
{
    sum += *(long *)value;
    return NULL;
}

static long number_of(FILE *f)
{
    char line[64] = "";
    if (!f || !fgets(line, sizeof line, f))
        exit(3); /* nothing to add: no threads, no race */
    return atol(line);
}

int main(int argc, char **argv)
{
    pthread_t first, second;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    long one = number_of(stdin), other = argc > 1 ? number_of(file) : 1;
    pthread_create(&first, NULL, adder, &one);
    pthread_create(&second, NULL, adder, &other);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("sum %ld\n", sum);
    if (file)
        fclose(file);
    return 0;
}
