/* Who it is cannot be taken back.
 * Refused: setuid at .*other_user\.c:\d+, or hosted */
#include <pthread.h>
#include <unistd.h>

static void *works(void *p)
{
    return setuid(getuid()) ? p : 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    return 0;
}
