/* AddressSanitizer beside the runtime: both see the thread. */
#include "by_hand.h"

#include <pthread.h>

static void *routine(void *arg)
{
    ENTER;
    volatile char *block = malloc(10);
    char c = arg ? block[10] : block[9];
    free((void *)block);
    LEAVE;
    return (void *)(long)(c & 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    pthread_t t;
    CHECK(pthread_create(&t, NULL, routine, argc > 1 ? &t : NULL) == 0);
    CHECK(pthread_join(t, NULL) == 0);
    return 0;
}
