/* Destroyed while it is held.
 * Expected: lock-misuse observed at `destroy` and `took`. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock;
static int uses;

int main(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_lock(&lock); /* took */
    uses++;
    pthread_mutex_destroy(&lock); /* destroy */
    pthread_mutex_unlock(&lock);
    printf("%d use\n", uses);
    return 0;
}
