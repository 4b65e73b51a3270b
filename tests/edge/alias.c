// Aliases of functions and data: strong, weak, hidden, chains, and two names that are one address.
#include <stdio.h>

int value = 3;
extern int value_alias __attribute__((alias("value")));
extern int value_hidden __attribute__((alias("value"), visibility("hidden")));
static int secret(int x)
{
    return x + value;
}
int strong_name(int) __attribute__((alias("secret")));
int weak_name(int) __attribute__((weak, alias("strong_name")));
static struct {
    int a, b;
} inside = {1, 2};
__asm__(".globl inside_b\n.set inside_b, inside+4\n");
extern int inside_b;

int main(void)
{
    __asm__ volatile("" : : "r"(&inside) : "memory");
    value_alias += 4;
    __asm__ volatile("" : : : "memory");
    printf("%d %d %d\n", value, value_hidden, strong_name(1));
    printf("%d %d\n", weak_name(2), &value == &value_alias);
    inside_b = 50;
    __asm__ volatile("" : : : "memory");
    printf("%d\n", inside.a + inside.b);
    return 0;
}
