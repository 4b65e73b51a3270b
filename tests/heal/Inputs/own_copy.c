/* A struct is copied whole, against writers of its members; bitfields share a word. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct state {
    long a, b, c, d;
};
struct flags {
    unsigned ready : 1, seen : 1, count : 20;
};
static struct state state;
static struct flags flags;
static long torn;
static void *writer(void *n)
{
    for (long i = 1; i <= (long)n; i++) {
        struct state next = {i, i, i, i};
        state = next;
        flags.ready = i & 1;
    }
    return NULL;
}
static void *reader(void *n)
{
    for (long i = 0; i < (long)n; i++) {
        struct state now = state;
        torn += now.a != now.b || now.b != now.c || now.c != now.d;
        flags.count++;
    }
    return NULL;
}
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 60;
    pthread_t t[2];
    pthread_create(&t[0], NULL, writer, (void *)n);
    pthread_create(&t[1], NULL, reader, (void *)n);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    int ok = !torn && flags.count == n && flags.ready == (n & 1);
    printf(ok ? "ok\n" : "FAILED: torn %ld, count %u ready %u\n", torn, flags.count, flags.ready);
    return !ok;
}
