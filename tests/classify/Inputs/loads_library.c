/* Two threads use a library that is not made for it. */
#include <pthread.h>
#include <stdio.h>

void library_make(void);
int library_limit(void);

static void *maker(void *arg)
{
    library_make();
    return arg;
}

static void *user(void *arg)
{
    printf("%d\n", library_limit());
    return arg;
}

int main(void)
{
    pthread_t m, u;
    pthread_create(&m, NULL, maker, NULL);
    pthread_create(&u, NULL, user, NULL);
    pthread_join(m, NULL);
    pthread_join(u, NULL);
}
