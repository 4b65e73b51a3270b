/* Closes every descriptor but its own before its threads, as daemons do. Hosted. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *works(void *p)
{
    pthread_mutex_lock(&lock);
    turns++;
    pthread_mutex_unlock(&lock);
    return p;
}

int main(void)
{
    pthread_t a, b;
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    pthread_create(&a, 0, works, 0);
    pthread_create(&b, 0, works, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    printf("%d turns\n", turns);
    return 0;
}
