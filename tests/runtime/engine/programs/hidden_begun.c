/* The same where schedules are children that begin in the middle: what they remove is removed for all of them.
 * drive: --only-visible --schedules=20 --strategy=active --look-for=race --start=1 --start-least=50
 * visible: last
 * expect: begun at step
 * expect: hidden accesses; calls of hooks removed: [1-9]\d?$
 * expect: found race
 * replay: found race */
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 1 << 10, TURNS = 100 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned sum;
static int last;

static void *worker(void *seed)
{
    unsigned *words = calloc(WORDS, sizeof *words);
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < WORDS; i++)
            words[i] += words[i * 7 % WORDS] + (unsigned)i;
        pthread_mutex_lock(&lock);
        sum += words[*(unsigned *)seed];
        pthread_mutex_unlock(&lock);
    }
    last = 1;
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
    return last != 1;
}
