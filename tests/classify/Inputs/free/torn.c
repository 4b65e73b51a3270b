/* A word of eight bytes that is written in one: who reads it in halves sees a time that never was. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static atomic_int done; /* orders nothing */
static int64_t elapsed = 0x0000000100000001;

static void *writer(void *unused)
{
    for (int64_t i = 2; i < 40; i++)
        elapsed = i << 32 | i;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return unused;
}

int main(void)
{
    pthread_t thread;
    int torn = 0;
    pthread_create(&thread, NULL, writer, NULL);
    while (!atomic_load_explicit(&done, memory_order_relaxed))
        ;
    for (int i = 0; i < 200; i++) {
        int64_t now = elapsed;
        torn += (now >> 32) != (int32_t)now;
    }
    pthread_join(thread, NULL);
    printf("%s\n", torn ? "torn" : "whole");
    return torn != 0;
}
