// Old C: K&R definitions, implicit int and declarations, unprototyped calls, tentative definitions.
// FLAGS: -std=gnu89 -Wno-everything -w
// clang-format off
extern int printf();
int tentative;
int tentative;
static short half();

square(x)
{
    return x * x;
}

double scale(d, f, n)
double d;
float f;
short n;
{
    register i;
    for (i = 0; i < n; i++)
        d *= f;
    return d;
}

static short half(c)
char c;
{
    return c / 2;
}

main()
{
    auto total = 0;
    int (*fp)() = square;
    tentative = fp(7);
    total += tentative + half(9) + undeclared(3);
    printf("%d %g %d\n", total, scale(1.5, 2.0, 3), sizeof 'a');
    return 0;
}

undeclared(v)
{
    return v + 1000;
}
