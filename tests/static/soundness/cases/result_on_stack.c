/* A thread returns the address of a local variable to who joins it. finds: use-after-free */
#include <pthread.h>
#include <stdio.h>

__attribute__((noinline)) static void fill(int *at)
{
    for (int i = 0; i < 4; i++)
        at[i] = i;
}

static void *writer(void *arg)
{
    int local[4];
    int *result = arg ? arg : local;
    fill(result);
    return result;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, writer, NULL);
    pthread_join(t, &result);
    printf("%d\n", ((int *)result)[1] != 12345);
    return 0;
}
