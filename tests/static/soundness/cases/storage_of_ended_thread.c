/* Main reads a thread-local variable of a thread that it has joined. finds: use-after-free */
#include <pthread.h>
#include <stdio.h>

static __thread int own;
static int *left;

static void *writer(void *arg)
{
    own = 3;
    left = &own;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    pthread_join(t, NULL);
    printf("%d\n", *left != 12345);
    return 0;
}
