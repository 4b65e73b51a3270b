/* The twin of destroy_bad.c: given back first.
 * Expected: nothing. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock;
static int uses;

int main(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_lock(&lock);
    uses++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&lock);
    printf("%d use\n", uses);
    return 0;
}
