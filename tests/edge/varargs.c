// Variable arguments of all classes, va_copy, va_list handed on, structures through "...".
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct pair {
    long a, b;
};
struct big {
    int v[10];
};

static double sum(const char *kinds, ...)
{
    va_list ap, again;
    va_start(ap, kinds);
    va_copy(again, ap);
    double total = 0;
    for (int pass = 0; pass < 2; pass++) {
        va_list *l = pass ? &again : &ap;
        for (const char *k = kinds; *k; k++)
            switch (*k) {
            case 'i':
                total += va_arg(*l, int);
                break;
            case 'd':
                total += va_arg(*l, double);
                break;
            case 'l':
                total += (double)va_arg(*l, long double);
                break;
            case 'p':
                total += (double)va_arg(*l, struct pair).b;
                break;
            case 'b':
                total += va_arg(*l, struct big).v[9];
                break;
            case 'x':
                total += (double)va_arg(*l, __int128);
                break;
            case 's':
                total += (double)strlen(va_arg(*l, char *));
                break;
            }
    }
    va_end(again);
    va_end(ap);
    return total;
}
static __attribute__((format(printf, 2, 3))) void say(const char *who, const char *fmt, ...)
{
    char buf[100];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    printf("%s: %s\n", who, buf);
}

int main(void)
{
    struct pair p = {1, 1000};
    struct big b = {.v[9] = 77};
    printf("%g\n", sum("iiidsdplibxiiis", 1, 2, 3, 4.5, "seven", 6.25, p, 7.5L, 8, b, (__int128)9, 10, 11, 12, "xy"));
    printf("%g\n", sum("dddddddddd", .1, .2, .3, .4, .5, .6, .7, .8, .9, 1.));
    printf("%g\n", sum(""));
    say("teller", "%d %s %.2f %c %ld %Lg", -5, "text", 2.5, 'q', 1L << 50, 1.5L);
    return 0;
}
