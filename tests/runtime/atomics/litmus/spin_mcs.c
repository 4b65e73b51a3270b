// The queue lock of Mellor-Crummey and Scott: each waits on a word of its own.
// WRONG: counter -DUNLOCK=relaxed
#include "spinlock.h"
#include <sched.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int waiting;
};
static _Atomic(struct node *) tail;
static _Thread_local struct node mine;

static void lock(void)
{
    STORE(mine.next, NULL, relaxed);
    STORE(mine.waiting, 1, relaxed);
    struct node *before = EXCHANGE(tail, &mine, acq_rel);
    if (!before)
        return;
    STORE(before->next, &mine, release);
    while (LOAD(mine.waiting, LOCK))
        sched_yield();
}

static void unlock(void)
{
    struct node *next = LOAD(mine.next, acquire), *me = &mine;
    if (!next && atomic_compare_exchange_strong_explicit(&tail, &me, NULL, UNLOCK, relaxed))
        return;
    while (!(next = LOAD(mine.next, acquire)))
        sched_yield();
    STORE(next->waiting, 0, UNLOCK);
}
