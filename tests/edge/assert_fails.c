// A failing assertion: its text names file, line and function, then SIGABRT.
// GCC: differs
// SIGNAL: ABRT
#include <assert.h>
#include <stdio.h>

static int check(int x)
{
    assert(x > 0 && "must be positive");
    return x;
}

int main(int argc, char **argv)
{
    (void)argv;
    puts("before");
    fflush(stdout);
    return check(argc - 1);
}
