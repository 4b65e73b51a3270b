// A message announced by flags of every size, one after the other: load and store, exchange, add, compare-exchange.
// WRONG: data -DPUBLISH=relaxed
// WRONG: data -DTAKE=relaxed
#include "litmus.h"
#ifndef PUBLISH
#define PUBLISH release
#endif
#ifndef TAKE
#define TAKE acquire
#endif

static int data[16];
static int next;
static _Atomic uint8_t one;
static _Atomic uint16_t two;
static _Atomic uint32_t four;
static _Atomic uint64_t eight;
static _Atomic(int *) pointer;
static atomic_bool yes;
static _Atomic float real;

#define SEND(flag, how) (data[next++] = 1, how, invisible_reach(next))
#define GOT(flag, test) (invisible_await(++mine), (test) ? sum += data[mine - 1] : 0)

static void *writer(void *arg)
{
    (void)arg;
    SEND(one, STORE(one, 1, PUBLISH));
    SEND(two, EXCHANGE(two, 1, PUBLISH));
    SEND(four, ADD(four, 1, PUBLISH));
    uint64_t zero = 0;
    SEND(eight, atomic_compare_exchange_strong_explicit(&eight, &zero, 1, PUBLISH, relaxed));
    SEND(pointer, STORE(pointer, &next, PUBLISH));
    SEND(yes, STORE(yes, 1, PUBLISH));
    SEND(real, STORE(real, 1.5f, PUBLISH));
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    int sum = 0, mine = 0;
    GOT(one, LOAD(one, TAKE));
    GOT(two, EXCHANGE(two, 2, TAKE));
    GOT(four, ADD(four, 1, TAKE));
    uint64_t expected = 1;
    GOT(eight, atomic_compare_exchange_strong_explicit(&eight, &expected, 2, TAKE, relaxed));
    GOT(pointer, LOAD(pointer, TAKE));
    GOT(yes, LOAD(yes, TAKE));
    GOT(real, LOAD(real, TAKE) == 1.5f);
    printf("%d\n", sum);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
