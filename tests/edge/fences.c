// Message passing by relaxed accesses and fences of every order, thread and signal fences.
// FLAGS: -pthread
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int payload;
static atomic_int ready, answer;

static void *reader(void *arg)
{
    (void)arg;
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    atomic_thread_fence(memory_order_acquire);
    int got = payload;
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&answer, got * 2, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, reader, NULL);
    payload = 21;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_acq_rel);
    atomic_thread_fence(memory_order_relaxed);
    atomic_thread_fence(memory_order_consume);
    atomic_signal_fence(memory_order_acquire);
    atomic_signal_fence(memory_order_release);
    atomic_signal_fence(memory_order_acq_rel);
    atomic_signal_fence(memory_order_seq_cst);
    pthread_join(t, NULL);
    printf("%d\n", atomic_load_explicit(&answer, memory_order_acquire));
    return 0;
}
