/* One library gives a buffer back while the other one still reads it.
 * Expected: use-after-free or race at `reads` and `frees`. */
#ifdef LIBRARY_1
int first_of(const int *buffer);
int first_of(const int *buffer)
{
    return buffer[0]; /* reads */
}
#elif defined LIBRARY_2
#include <stdlib.h>
void give_back(int *buffer);
void give_back(int *buffer)
{
    free(buffer); /* frees */
}
#else
#include "../programs/threads.h"

#include <stdlib.h>
int first_of(const int *buffer);
void give_back(int *buffer);
static void *reader(void *buffer)
{
    first_of(buffer);
    return NULL;
}
int main(void)
{
    int *buffer = calloc(4, sizeof *buffer);
    pthread_t t;
    pthread_create(&t, NULL, reader, buffer);
#ifdef FIXED
    pthread_join(t, NULL);
#endif
    give_back(buffer);
#ifndef FIXED
    pthread_join(t, NULL);
#endif
    return 0;
}
#endif
