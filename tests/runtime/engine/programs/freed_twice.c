/* Two threads both think that they are the last to use it.
 * drive: --schedules=3000 --extend
 * expect: found use-after-free: .*freed twice
 * replay: found (use-after-free|race|unordered) */
#include <pthread.h>
#include <stdlib.h>

static int users = 2;
static char *shared;

static void *user(void *a)
{
    int left = users - 1;
    users = left;
    if (left <= 1)
        free(shared);
    return a;
}

int main(void)
{
    pthread_t t[2];
    shared = malloc(16);
    users = 2;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, user, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
}
