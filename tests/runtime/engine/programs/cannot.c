/* What cannot be taken back is said, with its place.
 * drive: --schedules=300
 * expect: state: cannot explore: chroot at callers( [0-9a-f]+)+$
 * status: 1 */
#include <pthread.h>
#include <unistd.h>

static void *makes(void *a)
{
    if (chroot("."))
        return 0;
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, makes, 0);
    pthread_join(t, 0);
}
