/* Two threads use it. */
#include <pthread.h>

void count(void);

static void *counts(void *p)
{
    count();
    return p;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, counts, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
