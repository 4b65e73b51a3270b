/* Few steps, and a long way between them: two threads work on memory of their own, and hand in what they have under a
 * lock. Behind the last piece both write `last`; with -DFIXED under the lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECES = 40, WORDS = 1 << 12, ROUNDS = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;
static int last;

static unsigned long piece(unsigned *words, unsigned seed)
{
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < WORDS; i++)
            words[i] = seed = (seed + words[(i * 7 + r) % WORDS]) * 2654435761u;
    return seed;
}

static void *worker(void *arg)
{
    unsigned *words = calloc(WORDS, sizeof *words);
    for (unsigned i = 0; i < PIECES; i++) {
        unsigned long one = piece(words, i);
        pthread_mutex_lock(&lock);
        sum += one;
        pthread_mutex_unlock(&lock);
    }
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    last = *(int *)arg;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    free(words);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int one = 1, two = 2;
    pthread_create(&a, NULL, worker, &one);
    pthread_create(&b, NULL, worker, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%lu\n", sum);
    return last == 0;
}
