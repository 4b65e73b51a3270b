/* Looks at itself through the kernel, which knows of no threads in the engine: another exit status there.
 * Refused: undisturbed in the engine it ends with exit code 4 at .*counts_itself\.c:\d+.*natively it ends with exit
 * code 0.*"alone", natively "with others" */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_barrier_t together;
static int alone;

static void *works(void *p)
{
    char line[200];
    pthread_barrier_wait(&together);
    if (p) {
        FILE *f = fopen("/proc/self/status", "r");
        while (f && fgets(line, sizeof line, f))
            if (strncmp(line, "Threads:\t1\n", 11) == 0)
                alone = 1;
        if (f)
            fclose(f);
    }
    pthread_barrier_wait(&together);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&together, 0, 2);
    pthread_create(&a, 0, works, 0);
    pthread_create(&b, 0, works, &together);
    pthread_join(a, 0);
    pthread_join(b, 0);
    puts(alone ? "alone" : "with others");
    return alone ? 4 : 0;
}
