// A switch of a thousand cases with holes, ranges, 64-bit keys and fallthrough.
#include <stdio.h>

#define C1(n)                                                                                                          \
    case (n) * 7ll:                                                                                                    \
        return (n) ^ 0x55;
#define C10(n) C1(n) C1(n + 1) C1(n + 2) C1(n + 3) C1(n + 4) C1(n + 5) C1(n + 6) C1(n + 7) C1(n + 8) C1(n + 9)
#define C100(n)                                                                                                        \
    C10(n) C10(n + 10) C10(n + 20) C10(n + 30) C10(n + 40) C10(n + 50) C10(n + 60) C10(n + 70) C10(n + 80) C10(n + 90)

static __attribute__((noinline)) int pick(long long key)
{
    switch (key) {
        C100(0)
        C100(100)
        C100(200)
        C100(300)
        C100(400)
        C100(500)
        C100(600)
        C100(700)
        C100(800)
        C100(900)
    case 10000 ... 19999:
        key -= 10000; /* fallthrough */
    case 1ll << 40:
        return (int)key & 0xfff;
    default:
        return -1;
    }
}

int main(void)
{
    long sum = 0;
    for (long long k = -10; k < 25000; k++)
        sum = sum * 3 % 1000003 + pick(k);
    printf("%ld %d\n", sum, pick(1ll << 40));
    return 0;
}
