/* A thread ends in the middle of a section that would go on in a function that it never comes to. */
#include <pthread.h>
#include <stdio.h>

static long shared, fence;

__attribute__((noinline)) static void enter(void)
{
    shared++;
}

__attribute__((noinline)) static void finish(void)
{
    fence = shared;
}

static void *leaver(void *unused)
{
    enter();
    return unused;
}

static void *visitor(void *unused)
{
    enter();
    finish();
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, leaver, NULL);
    pthread_create(&b, NULL, visitor, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts(shared == 2 && fence ? "ok" : "FAILED");
    return 0;
}
