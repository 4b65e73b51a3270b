// A sequence lock over relaxed data: the reader tries until it saw one even number before and after. What the data
// TSAN: fences
// points to was written before.
// WRONG: low -DPLAIN
// WRONG: record -DREADER_FIRST=relaxed -DREADER_FENCE=relaxed
#include "litmus.h"
#include <sched.h>
#ifndef READER_FIRST
#define READER_FIRST acquire
#endif
#ifndef READER_FENCE
#define READER_FENCE acquire
#endif
#ifdef PLAIN
typedef int word;
#define PUT(object, value) ((object) = (value))
#define GET(object) (object)
#else
typedef atomic_int word;
#define PUT(object, value) STORE(object, value, relaxed)
#define GET(object) LOAD(object, relaxed)
#endif

static atomic_uint sequence;
static word low, high;
static int record[64];

static void publish(int index)
{
    record[index] = index * 10;
    unsigned s = LOAD(sequence, relaxed);
    STORE(sequence, s + 1, relaxed);
    FENCE(release);
    PUT(low, index);
    PUT(high, -index);
    STORE(sequence, s + 2, release);
}

static int read_one(void)
{
    for (;;) {
        unsigned before = LOAD(sequence, READER_FIRST);
        int a = GET(low), b = GET(high);
        FENCE(READER_FENCE);
        unsigned after = LOAD(sequence, relaxed);
        if (before == after && before % 2 == 0)
            return a == -b ? record[a] : -1;
        sched_yield();
    }
}

static void *writer(void *arg)
{
    (void)arg;
    publish(1);
    invisible_reach(1);
    invisible_await(2);
    for (int i = 2; i < 64; i++)
        publish(i);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    int torn = read_one() < 0;
    invisible_reach(2);
    for (int i = 0; i < 100; i++)
        torn += read_one() < 0;
    printf("%d\n", torn);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
