/* One cell of many is published without order: who sees that it is ready may still find it empty. It is read in either
 * case, so that every run has the race, whichever thread comes first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 64, SWEEPS = 12 };

#ifdef HEAP
static int *cells;
#define CELL(row, column) cells[(row) * COLUMNS + (column)]
#else
static int grid[ROWS][COLUMNS];
#define CELL(row, column) grid[row][column]
#endif
static atomic_int ready;

static void *writer(void *arg)
{
    CELL(3, 17) = 42;
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static int sweep(void)
{
    int sum = 0;
    for (int row = 4; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            sum += CELL(row, column);
    return sum;
}

static void *reader(void *arg)
{
    int sum = 0;
    for (int i = 0; i < SWEEPS; i++)
        sum += sweep();
    int is_ready = atomic_load_explicit(&ready, memory_order_relaxed), value = CELL(3, 17);
    assert(!is_ready || value == 42);
    assert(sum == 0);
    return value ? arg : NULL;
}

int main(void)
{
    pthread_t w, r;
#ifdef HEAP
    cells = calloc(ROWS * COLUMNS, sizeof *cells);
#endif
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    puts("ok");
}
