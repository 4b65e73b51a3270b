/* Two variables that two functions read and write crosswise. */
#include <pthread.h>

static volatile long x, y;

static void *forth(void *unused)
{
    long a = x;
    long b = y;
    x = a + 1;
    y = b + 1;
    return unused;
}

static void *back(void *unused)
{
    long b = y;
    long a = x;
    y = b + 1;
    x = a + 1;
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, forth, NULL);
    back(NULL);
    pthread_join(t, NULL);
    return 0;
}
