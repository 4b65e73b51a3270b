// __attribute__((cleanup)): run in reverse order at every way out: return, break, goto, end of block.
#include <stdio.h>

static void say(int *p)
{
    printf("-%d", *p);
    *p = 0;
}
#define GUARD(n) __attribute__((cleanup(say))) int guard_##n = n

static int leave(int how)
{
    GUARD(1);
    for (int i = 0; i < 3; i++) {
        GUARD(2);
        guard_2 += i * 10;
        if (how == i)
            break;
        if (how == 5)
            goto out;
        if (how == 6)
            return guard_1 + guard_2;
        {
            GUARD(3);
            if (i == 1)
                continue;
            guard_3 = 4;
        }
    }
    return guard_1;
out:
    printf(" out");
    return 7;
}

int main(void)
{
    for (int how = 0; how < 7; how++) {
        int r = leave(how);
        printf(" = %d\n", r);
    }
    return 0;
}
