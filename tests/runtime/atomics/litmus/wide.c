// FLAGS: -latomic
// Flags that the compiler leaves to libatomic: 16 bytes, 24 bytes, three bytes.
// RIGHT: -mcx16
// WRONG: data -DPUBLISH=relaxed
// WRONG: data -DTAKE=relaxed
// WRONG: data -DPUBLISH=relaxed -mcx16
// WRONG: data -DTAKE=relaxed -mcx16
#include "litmus.h"
#ifndef PUBLISH
#define PUBLISH release
#endif
#ifndef TAKE
#define TAKE acquire
#endif

struct triple {
    long a, b, c;
};
struct small {
    char c[3];
};
static int data[3];
static _Atomic __int128 pair;
static _Atomic struct triple triple;
static _Atomic struct small small;

static void *writer(void *arg)
{
    (void)arg;
    data[0] = 1;
    STORE(pair, (__int128)1 << 100, PUBLISH);
    data[1] = 2;
    STORE(triple, ((struct triple){1, 2, 3}), PUBLISH);
    data[2] = 4;
    STORE(small, ((struct small){"abc"}), PUBLISH);
    invisible_reach(1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    int sum = 0;
    if (LOAD(pair, TAKE))
        sum += data[0];
    struct triple t = LOAD(triple, TAKE);
    if (t.c == 3)
        sum += data[1];
    struct small s = LOAD(small, TAKE);
    if (s.c[2] == 'c')
        sum += data[2];
    printf("%d\n", sum);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
