/* Main reads a local variable of a thread that it has joined. finds: use-after-free */
#include <pthread.h>
#include <stdio.h>

static int *left;

static void *writer(void *arg)
{
    int local[4] = {1, 2, 3, 4};
    left = local;
    left[arg != NULL] = 9;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    pthread_join(t, NULL);
    printf("%d\n", left[1] != 12345);
    return 0;
}
