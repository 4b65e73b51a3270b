/* Each thread raises its flag and looks for the other's: that both find the other's down needs a store that waits, or a
 * read that is stale. */
#include <pthread.h>
#include <stdio.h>

static int left, right, saw_left, saw_right;

static void *go_left(void *unused)
{
    left = 1;
    saw_right = right;
    return unused;
}

static void *go_right(void *unused)
{
    right = 1;
    saw_left = left;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, go_left, NULL);
    pthread_create(&b, NULL, go_right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf(saw_left || saw_right ? "ok\n" : "both went\n");
    return 0;
}
