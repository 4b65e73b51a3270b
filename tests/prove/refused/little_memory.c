/* Allows itself too little address space for the shadow of its memory, before its threads.
 * Refused: it ends with .* before its first thread; natively */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

static int shared;

static void *work(void *arg)
{
    (void)arg;
    shared++;
    return NULL;
}

int main(void)
{
    struct rlimit r = {256 << 20, 256 << 20};
    setrlimit(RLIMIT_AS, &r);
    pthread_t t;
    if (pthread_create(&t, NULL, work, NULL)) {
        puts("no thread");
        return 5;
    }
    pthread_join(t, NULL);
    puts("done");
    return 0;
}
