/* Everything that orders: locks, read locks, conditions, semaphores, barriers, atomics of every order, fences. What is
 * served must be legal; what comes out does not matter. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 60 };

static volatile long shared[4];
static _Atomic long word;
static _Atomic int mere;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int turn;

static long look(void)
{
    return shared[0] + shared[1] + shared[2] + shared[3];
}

static void pass_turn(int me)
{
    pthread_mutex_lock(&lock);
    while (turn != me)
        pthread_cond_wait(&condition, &lock);
    shared[0] = shared[0] + 1;
    turn = (turn + 1) % THREADS;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&lock);
}

static long atomics(int me, int round)
{
    static const memory_order stores[] = {memory_order_relaxed, memory_order_release, memory_order_seq_cst};
    static const memory_order loads[] = {memory_order_relaxed, memory_order_acquire, memory_order_seq_cst};
    long sum = 0, expected = round;
    atomic_store_explicit(&word, me * 1000 + round, stores[round % 3]);
    sum += atomic_load_explicit(&word, loads[round % 3]);
    sum += atomic_fetch_add_explicit(&word, 1, memory_order_acq_rel);
    atomic_compare_exchange_strong(&word, &expected, round + 1);
    if (round % 2) {
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&mere, me, memory_order_relaxed);
    } else {
        sum += atomic_load_explicit(&mere, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
    }
    return sum;
}

static void *worker(void *number)
{
    int me = *(int *)number;
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        shared[me] = me * 1000 + i;
        sum += look();
        pass_turn(me);
        pthread_rwlock_rdlock(&rwlock);
        sum += look();
        pthread_rwlock_unlock(&rwlock);
        if (i % 5 == me) {
            pthread_rwlock_wrlock(&rwlock);
            shared[3] = sum;
            pthread_rwlock_unlock(&rwlock);
        }
        sum += atomics(me, i);
        sem_wait(&semaphore);
        shared[1] = i;
        sem_post(&semaphore);
        if (i % 16 == 0)
            pthread_barrier_wait(&barrier);
        sum += look();
    }
    shared[2] = sum;
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    sem_init(&semaphore, 0, 1);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
