/* Two locks in both orders: a gate from the first to the second, with something inside that no gate may be held across.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void *forth(void *unused)
{
    char c;
    pthread_mutex_lock(&a); /* forth: first */
    if (read(ends[0], &c, 1) < 0)
        perror("read");
    pthread_mutex_lock(&b); /* forth: second */
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}

static void *back(void *unused)
{
    pthread_mutex_lock(&b); /* back: first */
    pthread_mutex_lock(&a); /* back: second */
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}

int main(void)
{
    pthread_t t;
    if (pipe(ends) || write(ends[1], "x", 1) != 1)
        return 2;
    forth(NULL);
    pthread_create(&t, NULL, back, NULL);
    pthread_join(t, NULL);
    return 0;
}
