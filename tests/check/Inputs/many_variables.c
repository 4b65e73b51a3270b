/* A join that is missing: whatever the thread writes and the main function reads races, one cause for all of it. */
#include <pthread.h>

struct {
    long a, b, c, d, e, f, g, h, i, j;
} s;

static void *fill(void *arg)
{
    s.a++, s.b++, s.c++, s.d++, s.e++;
    s.f++, s.g++, s.h++, s.i++, s.j++;
    return arg;
}

static long sum(void)
{
    return s.a + s.b + s.c + s.d + s.e + s.f + s.g + s.h + s.i + s.j;
}

int main(void)
{
    pthread_t thread;
    long n;
    pthread_create(&thread, NULL, fill, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
    n = sum();
#else
    n = sum();
    pthread_join(thread, NULL);
#endif
    return n < 0;
}
