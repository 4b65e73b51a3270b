// An atomic word and a plain byte inside it.
// RIGHT: -DBYTE=4
// WRONG: word -DBYTE=2
#include "litmus.h"
#ifndef BYTE
#define BYTE 5
#endif

static union {
    unsigned whole;
    char byte[8];
} word;

static void *first(void *arg)
{
    (void)arg;
    word.byte[BYTE] = 1;
    invisible_reach(1);
    return NULL;
}

static void *second(void *arg)
{
    (void)arg;
    invisible_await(1);
    __atomic_fetch_or(&word.whole, 0x100, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    TOGETHER(first, second);
    printf("%x\n", word.whole & 0x100);
    return 0;
}
