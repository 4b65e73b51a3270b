// -fsanitize=undefined alone prints its report on the line it happened and goes on.
// GCC: differs
// FLAGS: -fsanitize=undefined
#include <limits.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argv;
    volatile int big = INT_MAX - 1;
    int shifted = 1;
    big = big + argc;
    big = big + argc;
    shifted <<= 31 + argc;
    printf("%d %d\n", big == INT_MIN, shifted == 0 || shifted != 0);
    return 0;
}
