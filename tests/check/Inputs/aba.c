/* Lock-free stack with the ABA problem: nodes come from a pool and go back to it. FIXED: counted head. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 4 };
struct node {
    _Atomic uint32_t next;
    atomic_int owned;
};
static struct node node[NODES + 1]; /* 0: none */
static _Atomic uint64_t head;       /* count in the upper half */

static void push(uint32_t n)
{
    uint64_t old = atomic_load(&head), fresh;
    do {
        atomic_store(&node[n].next, (uint32_t)old);
#ifdef FIXED
        fresh = ((old >> 32) + 1) << 32 | n;
#else
        fresh = n;
#endif
    } while (!atomic_compare_exchange_strong(&head, &old, fresh));
}

static uint32_t pop(void)
{
    uint64_t old = atomic_load(&head), fresh;
    do {
        if (!(uint32_t)old)
            return 0;
        fresh = atomic_load(&node[(uint32_t)old].next);
#ifdef FIXED
        fresh |= ((old >> 32) + 1) << 32;
#endif
    } while (!atomic_compare_exchange_strong(&head, &old, fresh));
    return (uint32_t)old;
}

static void *user(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        uint32_t a = pop(), b = pop();
        if (a && atomic_fetch_add(&node[a].owned, 1) != 0)
            abort();
        if (b && atomic_fetch_add(&node[b].owned, 1) != 0)
            abort();
        if (a) {
            atomic_fetch_sub(&node[a].owned, 1);
            push(a);
        }
        if (b) {
            atomic_fetch_sub(&node[b].owned, 1);
            push(b);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int n = 0;
    for (uint32_t i = 1; i <= NODES; i++)
        push(i);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, user, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    while (pop())
        if (++n > NODES)
            abort();
    printf("%d nodes\n", n);
    return n != NODES;
}
