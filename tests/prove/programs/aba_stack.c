/* A lock-free stack whose head does not change its value when it is taken away and put back: the popper's exchange
 * succeeds on a head whose next has become another, and gives out a node that the recycler still owns.
 * Expected: assertion at `given out twice`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

enum { NODES = 3, NONE = 255 };

static atomic_uint head; /* node number; above it, if fixed, how often it changed */
static atomic_uint next[NODES] = {1, 2, NONE};
static atomic_int owned[NODES];

static unsigned changed(unsigned old, unsigned node)
{
#ifdef FIXED
    return ((old >> 8) + 1) << 8 | node;
#else
    (void)old;
    return node;
#endif
}

static unsigned pop(void)
{
    unsigned old = head, node;
    do {
        node = old & 255;
        if (node == NONE)
            return NONE;
    } while (!atomic_compare_exchange_strong(&head, &old, changed(old, next[node])));
    int before = atomic_exchange(&owned[node], 1);
    assert(!before); /* given out twice */
    return node;
}

static void push(unsigned node)
{
    owned[node] = 0;
    unsigned old = head;
    do
        next[node] = old & 255;
    while (!atomic_compare_exchange_strong(&head, &old, changed(old, node)));
}

static void *popper(void *arg)
{
    pop();
    pop();
    return arg;
}

static void *recycler(void *arg)
{
    unsigned kept = pop();
    if (pop() != NONE && kept != NONE)
        push(kept);
    return arg;
}

int main(void)
{
    RUN(popper, recycler);
    return 0;
}
