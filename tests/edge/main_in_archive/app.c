#include <stdio.h>
static int runs;
int app(int argc, char **argv)
{
    (void)argv;
    printf("app %d %d\n", argc, ++runs);
    return 0;
}
