/* The writer fills the table at two places; the second one's part is small and comes after hundreds of the first's. The
 * reader sums it up at one place. */
#include "order.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { CELLS = 2000, RARE = 700, RARE_END = 764 };
static int *table;
static void often(int i)
{
    table[i] = i;
}
static void rarely(int i)
{
    table[i] = -i;
}
static void *writer(void *arg)
{
    for (int i = 0; i < CELLS; i++)
        (i >= RARE && i < RARE_END ? rarely : often)(i);
    step_done(0);
    return arg;
}
int main(void)
{
    pthread_t t;
    int sum = 0;
    table = calloc(CELLS, sizeof *table);
    pthread_create(&t, NULL, writer, NULL);
    wait_step(0);
    for (int i = 0; i < CELLS; i++)
        sum += table[i];
    pthread_join(t, NULL);
    printf("%d\n", sum);
    return 0;
}
