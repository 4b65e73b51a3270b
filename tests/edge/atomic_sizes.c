// C11 _Atomic objects of 1, 2, 4 and 8 bytes through every generic operation.
#include <stdatomic.h>
#include <stdio.h>

#define TRY(type)                                                                                                      \
    do {                                                                                                               \
        static _Atomic type x;                                                                                         \
        type expected = 7;                                                                                             \
        atomic_init(&x, 5);                                                                                            \
        printf("%-10s %d", #type, (int)atomic_fetch_add(&x, 2));                                                       \
        printf(" %d", (int)atomic_compare_exchange_strong(&x, &expected, 100));                                        \
        expected = 1;                                                                                                  \
        printf(" %d", (int)atomic_compare_exchange_strong(&x, &expected, 1));                                          \
        printf(" %d", (int)expected);                                                                                  \
        printf(" %d", (int)atomic_exchange(&x, 0x3c));                                                                 \
        printf(" %d", (int)atomic_fetch_or(&x, 3));                                                                    \
        printf(" %d", (int)atomic_fetch_and(&x, 0x1f));                                                                \
        printf(" %d", (int)atomic_fetch_xor(&x, 0x55));                                                                \
        printf(" %d", (int)atomic_fetch_sub(&x, 1));                                                                   \
        x += 3;                                                                                                        \
        x ^= 1;                                                                                                        \
        x++;                                                                                                           \
        printf(" %d\n", (int)atomic_load(&x));                                                                         \
    } while (0)

int main(void)
{
    TRY(char);
    TRY(signed char);
    TRY(short);
    TRY(int);
    TRY(unsigned);
    TRY(long);
    TRY(unsigned long long);
    return 0;
}
