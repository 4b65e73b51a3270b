// __atomic_* with every memory order, nand/min/max, and the old __sync_* family.
#include <stdio.h>

static int x = 10;
static short h = -3;
static unsigned char c = 250;
static long l = 1L << 40;
static int *p;
static int cells[4];

int main(void)
{
    printf("%d", __atomic_load_n(&x, __ATOMIC_RELAXED));
    printf(" %d", __atomic_load_n(&x, __ATOMIC_CONSUME));
    printf(" %d", __atomic_load_n(&x, __ATOMIC_ACQUIRE));
    printf(" %d\n", __atomic_load_n(&x, __ATOMIC_SEQ_CST));
    __atomic_store_n(&x, 11, __ATOMIC_RELAXED);
    __atomic_store_n(&x, x + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&x, x + 1, __ATOMIC_SEQ_CST);
    int before = x, nand = __atomic_nand_fetch(&x, 6, __ATOMIC_ACQ_REL);
    int old = __atomic_fetch_nand(&h, 2, __ATOMIC_RELAXED);
    printf("%d %d %d %d\n", before, nand, old, h);
#ifdef __clang__
    int low = __atomic_fetch_min(&x, -20, __ATOMIC_RELAXED), high = __atomic_fetch_max(&x, 77, __ATOMIC_ACQUIRE);
    unsigned char cm = __atomic_fetch_max(&c, 251, __ATOMIC_RELEASE);
#else
    int low = x, high = -20;
    unsigned char cm = c;
    x = 77, c = 251;
#endif
    printf("%d %d %d %d %d\n", low, high, x, cm, c);
    int five = 5, seen = 0, twelve = 12;
    __atomic_store(&x, &five, __ATOMIC_RELEASE);
    __atomic_load(&x, &seen, __ATOMIC_ACQUIRE);
    __atomic_exchange(&x, &twelve, &seen, __ATOMIC_SEQ_CST);
    printf("%d %d\n", seen, x);
    int order = __ATOMIC_ACQUIRE;
    __asm__ volatile("" : "+r"(order)); /* an order known only at run time */
    printf("%d\n", __atomic_fetch_add(&x, 1, order));
    before = __sync_fetch_and_add(&x, 4);
    old = __sync_sub_and_fetch(&x, 1);
    int swapped = __sync_bool_compare_and_swap(&l, 1L << 40, 3);
    long was = __sync_val_compare_and_swap(&l, 3, 4);
    printf("%d %d %d %ld\n", before, old, swapped, was);
    printf("%d\n", __sync_lock_test_and_set(&c, 1));
    __sync_lock_release(&c);
    __sync_synchronize();
    printf("%d %ld\n", c, l);
    p = cells;
    __atomic_fetch_add(&p, 2 * sizeof *p, __ATOMIC_RELAXED);
    printf("%td %d\n", p - cells, __atomic_test_and_set(&c, __ATOMIC_ACQUIRE));
    __atomic_clear(&c, __ATOMIC_RELEASE);
    printf("%d %d\n", c, __atomic_always_lock_free(8, 0));
    return 0;
}
