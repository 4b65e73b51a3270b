// A write through a null pointer dies of SIGSEGV, as it would natively.
// SIGNAL: SEGV
#include <stdio.h>

int main(void)
{
    int *volatile p = NULL;
    puts("before");
    fflush(stdout);
    *(volatile int *)p = 1;
    puts("not reached");
    return 0;
}
