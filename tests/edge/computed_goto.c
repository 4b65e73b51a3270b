// A threaded interpreter: computed goto, label tables in static data, label differences.
#include <stdio.h>

static int interpret(const unsigned char *code)
{
    static const void *const labels[] = {&&halt, &&push, &&add, &&mul, &&dup, &&jnz, &&dec};
    static const int offsets[] = {&&push - &&push, &&add - &&push};
    int stack[16], *sp = stack, steps = 0;
    const unsigned char *pc = code;
#define NEXT goto *labels[steps++, *pc++]
    NEXT;
push:
    *sp++ = *pc++;
    NEXT;
add:
    sp--;
    sp[-1] += *sp;
    NEXT;
mul:
    sp--;
    sp[-1] *= *sp;
    NEXT;
dup:
    *sp = sp[-1];
    sp++;
    NEXT;
dec:
    sp[-1]--;
    NEXT;
jnz:
    if (sp[-1])
        pc = code + *pc;
    else
        pc++, sp--;
    NEXT;
halt:
    printf("steps %d, same %d\n", steps, offsets[0]);
    return sp[-1];
}

int main(void)
{
    static const unsigned char square[] = {1, 12, 4, 3, 1, 5, 2, 0};
    static const unsigned char loop[] = {1, 7, 1, 9, 6, 5, 4, 0};
    printf("%d\n", interpret(square));
    printf("%d\n", interpret(loop));
    return 0;
}
