/* A lock for readers and writers made by hand. BROKEN 1: a reader writes. 2: writers do not look at readers. */
#include <pthread.h>
#include <stdio.h>
struct rw {
    pthread_mutex_t lock;
    pthread_cond_t free;
    int readers, writing;
};
static struct rw table_lock = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
static int table[8], lookups;

static void read_lock(struct rw *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->writing)
        pthread_cond_wait(&l->free, &l->lock);
    l->readers++;
    pthread_mutex_unlock(&l->lock);
}

static void read_unlock(struct rw *l)
{
    pthread_mutex_lock(&l->lock);
    if (--l->readers == 0)
        pthread_cond_broadcast(&l->free);
    pthread_mutex_unlock(&l->lock);
}

static void write_lock(struct rw *l)
{
    pthread_mutex_lock(&l->lock);
#if BROKEN == 2
    while (l->writing)
#else
    while (l->writing || l->readers > 0)
#endif
        pthread_cond_wait(&l->free, &l->lock);
    l->writing = 1;
    pthread_mutex_unlock(&l->lock);
}

static void write_unlock(struct rw *l)
{
    pthread_mutex_lock(&l->lock);
    l->writing = 0;
    pthread_cond_broadcast(&l->free);
    pthread_mutex_unlock(&l->lock);
}

static void *reader(void *arg)
{
    int *sum = arg;
    for (int i = 0; i < 100; i++) {
        read_lock(&table_lock);
        *sum += table[i % 8];
#if BROKEN == 1
        lookups++;
#endif
        read_unlock(&table_lock);
    }
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) {
        write_lock(&table_lock);
        table[i % 8]++;
        lookups = 0;
        write_unlock(&table_lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t r[2], w[2];
    int sums[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        pthread_create(&r[i], NULL, reader, &sums[i]);
        pthread_create(&w[i], NULL, writer, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(r[i], NULL);
        pthread_join(w[i], NULL);
    }
    printf("%d %d\n", sums[0] + sums[1], lookups);
    return 0;
}
