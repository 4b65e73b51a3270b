/* One thread aborts before it did anything; the first site of the program is in another function. */
#include <pthread.h>
#include <stdlib.h>

static int shown;

__attribute__((noinline)) static void args(int argc, char **argv)
{
    shown = argv[argc - 1][0];
}

static void *fails(void *p)
{
    (void)p;
    abort();
}

static void *waits(void *p)
{
    return p;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    args(argc, argv);
    pthread_create(&a, 0, waits, 0);
    pthread_create(&b, 0, fails, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
