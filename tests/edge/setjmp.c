// setjmp/longjmp out of deep recursion, in a loop, through functions with locals, and with volatile state.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf out, loop;
static int depth_reached;

static __attribute__((noinline)) void dive(int n)
{
    int local[8] = {n};
    depth_reached = n;
    if (n == 50)
        longjmp(out, local[0] + 1);
    dive(n + 1);
    depth_reached -= local[0]; /* keeps the frame: never reached */
}
static __attribute__((noinline)) int inner(int v)
{
    jmp_buf mine;
    volatile int seen = 0;
    int r = setjmp(mine);
    seen++;
    if (r < v)
        longjmp(mine, r + 1);
    return seen * 100 + r;
}

int main(void)
{
    volatile int rounds = 0;
    int r = setjmp(out);
    if (!r)
        dive(1);
    printf("%d %d\n", r, depth_reached);
    r = setjmp(loop);
    rounds += r;
    if (rounds < 1000)
        longjmp(loop, 7);
    printf("%d\n", rounds);
    printf("%d\n", inner(5));
    if (setjmp(loop) == 0)
        longjmp(loop, 0); /* zero becomes one */
    else
        printf("one\n");
    return 0;
}
