// -nostartfiles with the program's own _start on top of a dynamic libc.
// FLAGS: -nostartfiles -fno-stack-protector
// MAY-REFUSE: -nostartfiles
// EXIT: 21
#include <stdio.h>
#include <stdlib.h>

static int calls[2] = {3, 4};

__attribute__((force_align_arg_pointer, noreturn)) void _start(void)
{
    calls[0] += 4;
    printf("own start %d\n", calls[0]);
    exit(calls[0] * 3);
}
