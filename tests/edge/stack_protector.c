// -fstack-protector-all: sound buffers pass; a smashed one is noticed and ends in SIGABRT.
// FLAGS: -fstack-protector-all -Wno-fortify-source -U_FORTIFY_SOURCE
// SIGNAL: ABRT
#include <stdio.h>
#include <string.h>

static __attribute__((noinline)) int fill(volatile int n)
{
    char buf[16];
    volatile char *p = buf;
    for (int i = 0; i < n; i++)
        p[i] = 'A';
    return p[3];
}

int main(void)
{
    printf("%d\n", fill(16));
    fflush(stdout);
    printf("%d\n", fill(64));
    return 0;
}
