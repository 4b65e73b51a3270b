/* Without goals the order of accesses is checked where memory is shared; what a thread has for itself is hidden after
 * the first schedules, and looked at in some. The race becomes visible, is found and replays.
 * drive: --only-shared --extend --schedules=40 --strategy=random --look-for=race
 * expect: hidden accesses; calls of hooks removed: [1-9]\d*$
 * expect: made visible: [12] places
 * expect: found race
 * expect: ends: done 40
 * replay: found race */
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 1 << 10, ROUNDS = 30 };
static int last;

static unsigned work(unsigned *words, unsigned seed)
{
    for (int i = 0; i < ROUNDS * WORDS; i++)
        words[i % WORDS] = seed = (seed + words[i * 7 % WORDS]) * 2654435761u;
    return seed;
}

static void *worker(void *seed)
{
    unsigned *words = calloc(WORDS, sizeof *words);
    *(unsigned *)seed = work(words, *(unsigned *)seed);
    last = 1;
    *(unsigned *)seed = work(words, *(unsigned *)seed);
    free(words);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    unsigned seeds[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &seeds[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return seeds[0] == seeds[1] || last != 1;
}
