// Flags that change meaning must reach the code: strict aliasing off, wrapping signed arithmetic.
// FLAGS: -fno-strict-aliasing -fwrapv -fno-common -funroll-loops -fno-math-errno -fmerge-all-constants
#include <limits.h>
#include <stdio.h>

static int type_pun(float f)
{
    return *(int *)&f;
}
int main(int argc, char **argv)
{
    (void)argv;
    int wrapped = INT_MAX - 1 + argc + argc;
    printf("%x %d\n", type_pun(1.5f), wrapped < 0 && wrapped + argc > wrapped);
    return 0;
}
