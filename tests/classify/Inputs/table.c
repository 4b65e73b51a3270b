/* A table is made once; who does not see that it is there computes by himself, each time, and is right. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { QUESTIONS = 40, WORK = 2000000 };

static int has_table;
static int table[QUESTIONS];
static atomic_int begun;

static int compute(int question)
{
    volatile int rest = question;
    for (int i = 0; i < WORK; i++)
        rest = rest + 1;
    return rest - WORK;
}

static void *maker(void *arg)
{
    for (int i = 0; i < QUESTIONS; i++)
        table[i] = i;
    has_table = 1;
    atomic_store_explicit(&begun, 1, memory_order_relaxed);
    return arg;
}

static void *user(void *arg)
{
    int sum = 0;
    while (!atomic_load_explicit(&begun, memory_order_relaxed))
        usleep(100); /* what it spins would be counted, too */
    for (int i = 0; i < QUESTIONS; i++)
        sum += has_table ? table[i] : compute(i);
    printf("%d\n", sum);
    return arg;
}

int main(void)
{
    pthread_t m, u;
    pthread_create(&m, NULL, maker, NULL);
    pthread_create(&u, NULL, user, NULL);
    pthread_join(m, NULL);
    pthread_join(u, NULL);
}
