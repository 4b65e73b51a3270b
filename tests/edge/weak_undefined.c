// Weak references that nobody defines are null and tested for; weak data too.
#include <stdio.h>

__attribute__((weak)) int optional(int);
extern __attribute__((weak)) int optional_data;
extern __attribute__((weak)) int present_data;
__attribute__((weak)) int present(int x)
{
    return x * 2;
}
__attribute__((weak)) int present_data = 6;
static int (*const table[])(int) = {optional, present};
static int real_target(void)
{
    return 9;
}
__attribute__((weakref("real_target"))) static int by_reference(void);
__attribute__((weakref("nowhere_at_all"))) static int by_missing_reference(void);

int main(void)
{
    printf("%d %d %d\n", optional != NULL, &optional_data != NULL, table[0] != NULL);
    printf("%d %d\n", optional ? optional(1) : -1, table[1](present_data));
    printf("%d %d\n", by_reference(), by_missing_reference ? by_missing_reference() : -7);
    return real_target() - 9;
}
