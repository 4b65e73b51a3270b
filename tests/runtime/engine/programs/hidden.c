/* Two threads compute for long on memory of their own, of which nobody asks for the order: the calls of hooks there are
 * removed, those of the racing variable stay, and the schedules found replay. No thread yields however much it does.
 * drive: --only-visible --schedules=20 --strategy=active --look-for=race --seed=3
 * visible: last
 * expect: hidden accesses; calls of hooks removed: [1-9]\d*$
 * expect: depth at most 1\d,
 * expect: found race
 * replay: found race */
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 1 << 10, ROUNDS = 300 };
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
