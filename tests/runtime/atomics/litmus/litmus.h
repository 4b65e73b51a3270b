/* What the litmus programs share. Orders are macros, so that a twin differs by one word on the command line. */
#ifndef DH_TESTS_LITMUS_H
#define DH_TESTS_LITMUS_H

#include "../../../invisible.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define relaxed memory_order_relaxed
#define consume memory_order_consume
#define acquire memory_order_acquire
#define release memory_order_release
#define acq_rel memory_order_acq_rel
#define seq_cst memory_order_seq_cst

#define LOAD(object, order) atomic_load_explicit(&(object), order)
#define STORE(object, value, order) atomic_store_explicit(&(object), value, order)
#define ADD(object, value, order) atomic_fetch_add_explicit(&(object), value, order)
#define EXCHANGE(object, value, order) atomic_exchange_explicit(&(object), value, order)
#define FENCE(order) atomic_thread_fence(order)

/* Runs the threads and waits for all of them. */
static inline void together(unsigned n, void *(*const routine[])(void *))
{
    pthread_t thread[8];
    for (unsigned i = 0; i < n; i++)
        pthread_create(&thread[i], NULL, routine[i], (void *)(uintptr_t)i);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}
#define TOGETHER(...)                                                                                                  \
    together(sizeof((void *(*[])(void *)){__VA_ARGS__}) / sizeof(void *), (void *(*[])(void *)){__VA_ARGS__})

#endif
