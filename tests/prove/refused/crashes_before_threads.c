/* Dies before its threads, natively too.
 * Refused: ends with signal 11 .*before its first thread; natively it ends with signal 11 */
#include <pthread.h>

static void *works(void *p)
{
    return p;
}

int main(int argc, char **argv)
{
    pthread_t t;
    int *volatile nowhere = argc > 99 ? (int *)argv : 0;
    *nowhere = 1;
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    return 0;
}
