// quick_exit runs only its own handlers; ordinary ones and destructors stay silent.
// EXIT: 5
#include <stdio.h>
#include <stdlib.h>

static void never(void)
{
    printf("must not run\n");
}
static void quick(void)
{
    printf("quick\n");
    fflush(stdout);
}
__attribute__((destructor)) static void end(void)
{
    printf("must not run either\n");
}

int main(void)
{
    atexit(never);
    at_quick_exit(quick);
    quick_exit(5);
}
