// The program's own functions and variables carry names that tools and libraries like to use for themselves.
// FLAGS: -Wno-incompatible-library-redeclaration -fno-builtin
#include <stdio.h>

int enter(int x)
{
    return x + 1;
}
int leave(int x)
{
    return x - 1;
}
int hook = 1, site = 2, place = 3, detector = 4, runtime = 5;
struct dh_site {
    int id;
};
int dh_init(struct dh_site *s)
{
    return s->id;
}
static int llvm_used = 6;
int start(void)
{
    return 7;
}
int llvm_global_ctors[2] = {8, 9};
int index(int x)
{
    return x * 2;
}

int main(void)
{
    struct dh_site s = {10};
    hook += enter(1);
    site -= leave(1);
    printf("%d %d %d %d %d %d %d %d %d %d\n", hook, site, place, detector, runtime, llvm_used, start(), index(4),
           llvm_global_ctors[1], dh_init(&s));
    return 0;
}
