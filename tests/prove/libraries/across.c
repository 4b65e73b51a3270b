/* The program sets a limit of the library while a thread of its own is in the library, which reads it.
 * Expected: race on `limit` at `sets` and `reads`. */
#ifdef LIBRARY_1
int limit = 10;
int within(int n);
int within(int n)
{
    return n < limit; /* reads */
}
#else
#include "../programs/threads.h"
extern int limit;
int within(int n);
static void *asks(void *arg)
{
    within(7);
    return arg;
}
int main(void)
{
    pthread_t t;
#ifdef FIXED
    limit = 5;
#endif
    pthread_create(&t, NULL, asks, NULL);
#ifndef FIXED
    limit = 5; /* sets */
#endif
    pthread_join(t, NULL);
    return 0;
}
#endif
