/* Two functions that race on one variable at a dozen places each. */
#include <pthread.h>
#include <stdio.h>

static int x;

static void *add(void *arg)
{
    x++;
    x += 2;
    x *= 3;
    x -= 7;
    x ^= 5;
    return arg;
}

static void *take(void *arg)
{
    x--;
    x -= 2;
    x |= 1;
    x += 7;
    x &= 77;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, take, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d\n", x);
    return 0;
}
