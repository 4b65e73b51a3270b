/* Reads standard input to its end, in two threads. Hosted. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int read_so_far;

static void *reads(void *p)
{
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        pthread_mutex_lock(&lock);
        read_so_far++;
        pthread_mutex_unlock(&lock);
    }
    return p;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, reads, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
