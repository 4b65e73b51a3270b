/* The first thing that this program does itself is to read a variable. Its thread then waits, in code that is not
 * instrumented, for a byte that nobody writes, and main waits for the thread. */
#include <pthread.h>
#include <unistd.h>

void take_byte(int from); /* waits_elsewhere_library.c */

static int ends[2];

static void *taker(void *unused)
{
    take_byte(ends[0]);
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (ends[0] || pipe(ends))
        return 2;
    pthread_create(&thread, NULL, taker, NULL);
    pthread_join(thread, NULL);
    return 0;
}
