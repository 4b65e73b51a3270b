// 16-byte and odd-sized atomics that the compiler turns into libatomic calls.
// FLAGS: -latomic
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct triple {
    long a, b, c;
};
struct three {
    char c[3];
};
static _Atomic struct triple t;
static _Atomic struct three small;
static _Atomic __int128 wide;

int main(void)
{
    struct triple v = {1, 2, 3}, seen;
    atomic_store(&t, v);
    seen = atomic_load(&t);
    v.b = 20;
    seen = atomic_exchange(&t, v);
    printf("%ld %ld %ld\n", seen.a, seen.b, seen.c);
    int won = atomic_compare_exchange_strong(&t, &seen, v);
    printf("%d %ld\n", won, seen.b);
    won = atomic_compare_exchange_strong(&t, &seen, ((struct triple){7, 8, 9}));
    seen = t;
    printf("%d %ld %ld %ld\n", won, seen.a, seen.b, seen.c);

    struct three s = {{'x', 'y', 'z'}};
    small = s;
    struct three got = small;
    printf("%.3s\n", got.c);
    wide = ((__int128)5 << 100) + 9;
    wide += 1;
    __int128 w = wide;
    printf("%ld %ld\n", (long)(w >> 100), (long)w);
    return 0;
}
