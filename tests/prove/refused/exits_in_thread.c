/* A thread ends the process, past every handler, while others work. Hosted. */
#include <pthread.h>
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

static void *leaves(void *p)
{
    (void)p;
    pthread_mutex_lock(&lock);
    _exit(5);
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, works, 0);
    pthread_create(&u, 0, leaves, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
