/* A structure is passed by value: the call itself copies it out of what another thread writes.
 * Expected: race observed at `read` and `write`. */
#include <pthread.h>
#include <stdio.h>

struct vec {
    double x, y, z;
};

static struct vec shared;

static double square(struct vec v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

static void *writer(void *arg)
{
    shared.y = 3; /* write */
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    double length = square(shared); /* read */
    pthread_join(t, NULL);
    printf("%d\n", length < 10);
    return 0;
}
