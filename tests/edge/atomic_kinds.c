// Atomics that are no integers: bool, flag, pointers, float, double, long double, enum, volatile.
// FLAGS: -latomic
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

enum colour { RED, GREEN, BLUE };
static atomic_bool on;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic float f = 1.5f;
static _Atomic double d = 2.25;
static _Atomic long double ld = 3;
static _Atomic enum colour colour = GREEN;
static volatile _Atomic int v = 4;
static int cells[5] = {10, 11, 12, 13, 14};
static _Atomic(int *) p = cells;
static _Atomic(const char *) s = "one";

int main(void)
{
    bool expected = false;
    bool first = atomic_compare_exchange_strong(&on, &expected, true);
    bool second = atomic_compare_exchange_strong(&on, &expected, true);
    printf("%d %d %d\n", first, second, on);
    first = atomic_flag_test_and_set(&flag);
    second = atomic_flag_test_and_set_explicit(&flag, memory_order_acquire);
    atomic_flag_clear_explicit(&flag, memory_order_release);
    printf("%d %d %d\n", first, second, atomic_flag_test_and_set(&flag));
    f += 2.0f;
    f *= 3;
    d -= 0.5;
    d /= 2;
    ld = ld * 2 + 1;
    printf("%.3f %.3f %.1Lf\n", (double)f, d, (long double)ld);
    colour = BLUE;
    v |= 3;
    v <<= 2;
    p = p + 2;
    p = p + 1;
    printf("%d %d %d\n", colour, v, *p);
    s = s[0] == 'o' ? "two" : "none";
    printf("%s\n", s);
    double old = atomic_exchange(&d, -0.0);
    printf("%.3f %d\n", old, 1 / d < 0);
    return 0;
}
