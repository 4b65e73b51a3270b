// Freestanding habits: the program defines memcpy, memset, memmove and strlen itself and counts the calls.
// FLAGS: -ffreestanding -fno-builtin
#include <stddef.h>
#include <stdio.h>

static unsigned long copies, sets;

void *memcpy(void *restrict d, const void *restrict s, size_t n)
{
    volatile char *a = d;
    const volatile char *b = s;
    copies++;
    for (size_t i = 0; i < n; i++)
        a[i] = b[i];
    return d;
}
void *memset(void *d, int c, size_t n)
{
    volatile char *a = d;
    sets++;
    for (size_t i = 0; i < n; i++)
        a[i] = (char)c;
    return d;
}
struct big {
    char c[400];
};
static struct big x, y;

static __attribute__((noinline)) void assign(struct big *a, const struct big *b)
{
    *a = *b;
}

int main(void)
{
    memset(&x, 'q', sizeof x - 1);
    unsigned long before = copies;
    assign(&y, &x);
    int grew = copies - before <= 1;
    memcpy(y.c + 5, "12345", 5);
    printf("%.12s %d %d\n", y.c, grew, sets >= 1);
    return 0;
}
