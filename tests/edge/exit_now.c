// _Exit: no handler runs, nothing is flushed, status kept.
// EXIT: 254
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void never(void)
{
    write(2, "handler\n", 8);
}

int main(void)
{
    atexit(never);
    printf("lost in the buffer");
    if (write(1, "kept\n", 5) != 5)
        return 1;
    _Exit(-2);
}
