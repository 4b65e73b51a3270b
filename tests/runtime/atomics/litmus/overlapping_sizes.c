// Two counts that are read as one value of eight bytes, as libstdc++ does with those of a shared pointer: what was released to a part is acquired with
// the whole, and the other way round.
// RIGHT: -DPART=0
// RIGHT: -DWHOLE_FIRST
// RIGHT: -DWHOLE_FIRST -DPART=0
// WRONG: data -DPUBLISH=relaxed
// WRONG: data -DTAKE=relaxed
// WRONG: data -DWHOLE_FIRST -DTAKE=relaxed
// WRONG: data -DBESIDE
#include "litmus.h"
#ifndef PART
#define PART 1
#endif
#ifndef PUBLISH
#define PUBLISH release
#endif
#ifndef TAKE
#define TAKE acquire
#endif

static union {
    _Atomic uint64_t whole;
    _Atomic uint32_t part[2];
} counts;
static int data;

#ifdef WHOLE_FIRST
#define SEND ADD(counts.whole, 0x100000001, PUBLISH)
#define GET LOAD(counts.part[PART], TAKE)
#elif defined BESIDE // the other part orders nothing
#define SEND ADD(counts.part[1], 1, PUBLISH)
#define GET LOAD(counts.part[0], TAKE) + 1
#else
#define SEND ADD(counts.part[PART], 1, PUBLISH)
#define GET LOAD(counts.whole, TAKE)
#endif

static void *writer(void *arg)
{
    data = 1;
    SEND;
    invisible_reach(1);
    return arg;
}

static void *reader(void *arg)
{
    invisible_await(1);
    if (GET)
        data++;
    return arg;
}

int main(void)
{
    TOGETHER(writer, reader);
    printf("%d\n", data);
    return 0;
}
