/* longjmp out of a read-modify-write; thread exit from inside of one. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static long served, errors;
static __thread jmp_buf out;
static void serve(int i)
{
    long s = served;
    if (i % 7 == 6) {
        errors = errors + 1;
        longjmp(out, 1);
    }
    served = s + 1;
}
static void *worker(void *n)
{
    volatile int i = 0;
    if (setjmp(out))
        i++;
    for (; i < (int)(long)n; i++)
        serve(i);
    pthread_exit(NULL);
}
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 70;
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)n);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    int ok = served + errors == 2 * n;
    printf(ok ? "ok\n" : "FAILED: %ld + %ld of %ld\n", served, errors, 2 * n);
    return !ok;
}
