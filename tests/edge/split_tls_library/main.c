#include <pthread.h>
#include <stdio.h>
long use(int);
int library(int);
static void *thread(void *arg)
{
    long s = 0;
    for (int i = 0; i < 4; i++)
        s = s * 2 + use((int)(long)arg) + library(i);
    return (void *)s;
}
int main(void)
{
    pthread_t t[2];
    void *r[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], &r[i]);
    printf("%ld %ld %ld %d\n", (long)r[0], (long)r[1], use(1), library(1));
    return 0;
}
