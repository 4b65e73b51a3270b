/* Ends before its threads, since a file is missing.
 * No threads: ended with exit code 1 without having created a thread */
#include <pthread.h>
#include <stdio.h>

static void *works(void *p)
{
    return p;
}

int main(void)
{
    pthread_t t;
    FILE *f = fopen("missing.conf", "r");
    if (!f) {
        fprintf(stderr, "missing.conf: no such file\n");
        return 1;
    }
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    return 0;
}
