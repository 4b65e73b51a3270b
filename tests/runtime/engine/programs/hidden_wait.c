/* A thread that waits for another one in a loop of hidden accesses is met, and the places at which it waits become
 * steps; who computes for as long goes on.
 * drive: --only-visible --schedules=20 --strategy=random --look-for=deadlock,hang,race
 * visible: last
 * expect: waited at: [1-3] places
 * expect: hidden accesses; calls of hooks removed: [1-9]\d*$
 * expect: ends: done \d+ (race \d+ )?cut [1-9]$
 * expect: found race
 * refuse: found (hang|deadlock)
 * replay: found race */
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 1 << 10, ROUNDS = 40000 };
static int ready, last;

static __attribute__((noinline)) int is_ready(void)
{
    return ready;
}

static void *waits(void *unused)
{
    while (!is_ready())
        ;
    last = 1;
    return unused;
}

static void *computes(void *words)
{
    unsigned *w = words, sum = 1;
    for (int i = 0; i < ROUNDS * 16; i++)
        w[i % WORDS] = sum = (sum + w[i * 7 % WORDS]) * 2654435761u;
    ready = 1;
    last = 2;
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    unsigned *words = calloc(WORDS, sizeof *words);
    pthread_create(&t[0], NULL, waits, NULL);
    pthread_create(&t[1], NULL, computes, words);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    free(words);
    return 0;
}
