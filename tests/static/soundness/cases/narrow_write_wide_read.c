/* A write of four bytes, then a read of eight around them: the read does not speak for the write. finds: race */
#include <pthread.h>
#include <stdio.h>

static union {
    int part[2];
    long whole;
} both;

__attribute__((noinline)) static long set(int to)
{
    both.part[0] = to;
    return both.whole;
}

__attribute__((noinline)) static int get(void)
{
    return both.part[0];
}

static void *writer(void *arg)
{
    printf("%d\n", set(1) != 12345);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    printf("%d\n", get() != 12345);
    pthread_join(t, NULL);
    return 0;
}
