// musttail calls: a million mutual tail calls that would overflow the stack if anything came between.
// GCC: differs
#include <stdio.h>

#ifdef __clang__
#define TAIL __attribute__((musttail)) return
#else
#define TAIL return
#endif

struct state {
    long even, odd;
    int log[8];
};
static int odd(struct state *s, long n);
static __attribute__((noinline)) int even(struct state *s, long n)
{
    s->even += n;
    s->log[n & 7]++;
    if (n == 0)
        return 0;
    TAIL odd(s, n - 1);
}
static __attribute__((noinline)) int odd(struct state *s, long n)
{
    s->odd += n;
    if (n == 0)
        return 1;
    TAIL even(s, n - 1);
}
typedef int (*op)(struct state *, long);
static op ops[2] = {even, odd};
static __attribute__((noinline)) int start(struct state *s, long n)
{
    TAIL ops[n & 1](s, n);
}

int main(void)
{
    struct state s = {0};
    long n = 1000001;
    printf("%d\n", start(&s, n));
    printf("%ld %ld %d %d\n", s.even, s.odd, s.log[0], s.log[6]);
    return 0;
}
