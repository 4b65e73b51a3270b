/* Which of two lines it prints depends on who comes first, and both are right: a lock each, but not the same. That the
 * reader is first takes its whole work before the writer's first step, which schedules at random hardly ever do. With
 * -DLOST the sum is counted without a lock, too, and printed: updates get lost, and only the output tells. */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 40 };

static pthread_mutex_t reads = PTHREAD_MUTEX_INITIALIZER, writes = PTHREAD_MUTEX_INITIALIZER;
static int generation, sum;

static void count(void)
{
#ifdef LOST
    sum++;
#endif
}

static void *reader(void *seen)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&reads);
        pthread_mutex_unlock(&reads);
    }
    pthread_mutex_lock(&reads);
    *(int *)seen = generation;
    pthread_mutex_unlock(&reads);
    count();
    return NULL;
}

static void *writer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&writes);
    generation++;
    pthread_mutex_unlock(&writes);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&writes);
        pthread_mutex_unlock(&writes);
    }
    count();
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    int seen = 0;
    pthread_create(&u, NULL, writer, NULL);
    pthread_create(&t, NULL, reader, &seen);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
#ifdef LOST
    printf("%d\n", sum);
#else
    printf("%s generation\n", seen ? "second" : "first");
#endif
    return 0;
}
