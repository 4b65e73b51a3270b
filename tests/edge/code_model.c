// -mcmodel=medium with a large array and -fno-plt: the code model must survive until code is generated.
// FLAGS: -mcmodel=medium -fno-plt -fPIC
#include <stdio.h>

static char large[100 << 20];
static int small[10];

static __attribute__((noinline)) long touch(long step)
{
    long sum = 0;
    for (long i = 0; i < (long)sizeof large; i += step) {
        large[i] += (char)(i / step);
        sum += large[i] + small[i % 10]++;
    }
    return sum;
}

int main(void)
{
    printf("%ld\n", touch(1 << 20));
    long again = touch(3 << 20);
    printf("%ld %d\n", again, small[6]);
    return 0;
}
