/* Every kind of event once, so that a reader can check the whole stream line by line. */
#include "invisible.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t semaphore;
static _Atomic int flag, count;
static int ready, field;
static double sweep[1000];
static volatile char text[64];
static char source[64] = "hello";

static void initialise(void)
{
    field = 1;
}

static void *other(void *unused)
{
    invisible_here();
    pthread_once(&once, initialise);
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    sem_post(&semaphore);
    pthread_barrier_wait(&barrier);
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    atomic_fetch_add(&count, 1);
    int expected = 5;
    atomic_compare_exchange_strong(&count, &expected, 6);
    atomic_thread_fence(memory_order_seq_cst);
    return unused;
}

static void make_recursive(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &a);
    pthread_mutexattr_destroy(&a);
}

static void *waits_for_mutex(void *unused)
{
    invisible_here();
    invisible_reach(1);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void meet_in_mutex(void)
{
    pthread_t t;
    pthread_mutex_lock(&mutex);
    pthread_create(&t, NULL, waits_for_mutex, NULL);
    invisible_await(1);
    invisible_await_waiting();
    pthread_mutex_unlock(&mutex);
    pthread_join(t, NULL);
}

static void *detached(void *unused)
{
    invisible_reach(2);
    return unused;
}

int main(void)
{
    pthread_t t;
    make_recursive();
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t, NULL, other, NULL);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    invisible_await_waiting();
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    pthread_cond_broadcast(&condition);
    sem_wait(&semaphore);
    pthread_barrier_wait(&barrier);
    pthread_rwlock_wrlock(&rwlock);
    for (int i = 0; i < 1000; i++)
        sweep[i] = i;
    for (int i = 0; i < 1000; i += 100)
        sweep[i] += 1;
    pthread_rwlock_unlock(&rwlock);
    atomic_store_explicit(&flag, 1, memory_order_release);
    char *volatile block = malloc(100);
    memcpy((void *)text, source, sizeof text);
    block = realloc(block, 2000);
    strcpy(block, source);
    free(block);
    void *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(mapped, 4096);
    if (pthread_mutex_trylock(&mutex) == 0)
        pthread_mutex_unlock(&mutex);
    struct timespec past = {1, 0};
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &past);
    pthread_mutex_unlock(&mutex);
    pthread_join(t, NULL);
    meet_in_mutex();
    pthread_create(&t, NULL, detached, NULL);
    pthread_detach(t);
    invisible_await(2);
    pthread_mutex_destroy(&recursive);
    return 3;
}
