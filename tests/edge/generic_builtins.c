// _Generic, statement expressions, overflow builtins, typeof, case ranges, compound literals, designators.
#include <stdio.h>
#include <string.h>

#define KIND(x) _Generic((x), int: "int", double: "double", char *: "text", default: "other")
#define MAX(a, b)                                                                                                      \
    ({                                                                                                                 \
        __typeof__(a) a_ = (a);                                                                                        \
        __typeof__(b) b_ = (b);                                                                                        \
        a_ > b_ ? a_ : b_;                                                                                             \
    })
static int table[] = {[2] = 5, [7 ... 9] = 1, [4] = 3};
struct point {
    int x, y;
};
static int length(const struct point *p)
{
    return p->x + p->y;
}

int main(void)
{
    char text[] = "t";
    printf("%s %s %s %s\n", KIND(1), KIND(1.0), KIND(text), KIND(1L));
    int i = 3, r = 0, sum = 0;
    int m = MAX(i++, 2), over = __builtin_add_overflow(2147483647, i, &r);
    printf("%d %d %d %d\n", m, i, over, r < 0);
    long product;
    printf("%d\n", __builtin_mul_overflow(1L << 40, 1L << 30, &product));
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        sum = sum * 3 + table[k];
    printf("%d %d\n", sum, length(&(struct point){.y = 4, .x = 5}));
    printf("%d %d %d %d\n", __builtin_popcountl(0xff0f), __builtin_ctz(64), __builtin_clzll(1), __builtin_ffs(8));
    printf("%x %lx\n", __builtin_bswap32(0x11223344), (unsigned long)__builtin_bswap64(0x1122334455667788));
    __builtin_prefetch(table, 1, 3);
    char buf[32];
    __builtin_memset(buf, 'z', sizeof buf);
    __builtin_memmove(buf + 1, buf, 10);
    buf[12] = 0;
    printf("%zu %zu\n", __builtin_strlen(buf), __builtin_object_size(buf, 0));
    return 0;
}
