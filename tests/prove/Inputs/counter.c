/* A library that counts without a lock. */
#include <stdatomic.h>

int counted;
static atomic_int calls;

void count(void)
{
    atomic_fetch_add(&calls, 1);
    counted++;
}
