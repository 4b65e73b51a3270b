/* How often the thread turns is chance, and so is the schedule that leads to its failure. With "clock" time decides. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

static atomic_int turns;
static unsigned n;

static void *works(void *p)
{
    for (unsigned i = 0; i < n % 1000; i++)
        atomic_fetch_add(&turns, 1);
    abort();
    return p;
}

int main(int argc, char **argv)
{
    pthread_t t;
    if (argc > 1)
        n = (unsigned)time(NULL) ^ (unsigned)clock();
    else
        memcpy(&n, (void *)getauxval(AT_RANDOM), sizeof n); /* the kernel's, for this process */
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    return argv[argc] != NULL;
}
