/* A lock-free queue whose producers move the tail by a load and a store: two fill the same cell, and one item is
 * gone.
 * Expected: assertion at `both in`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

enum { ROOM = 4 };

static atomic_int cells[ROOM], tail;

static void put(int item)
{
#ifdef FIXED
    int at = tail++;
#else
    int at = tail;
    tail = at + 1;
#endif
    cells[at] = item;
}

static void *producer(void *arg)
{
    put(1 + (int)(long)arg);
    return arg;
}

int main(void)
{
    RUN(producer, producer);
    assert(cells[0] + cells[1] == 3); /* both in */
    return 0;
}
