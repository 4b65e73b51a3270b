/* One helper in contexts that make its accesses safe, and in one that does not: threads share `heap` without a lock.
 * With LATE, main fills the heap only when threads are there. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct heap {
    long n, sum, item[64];
};

static struct heap *heap;
static void (*volatile behind)(struct heap *, long);

__attribute__((noinline)) static void add(struct heap *h, long x)
{
    h->item[h->n & 63] = x;
    h->n++;
    h->sum += x;
}

__attribute__((noinline)) static void fill(struct heap *h, long n)
{
    for (long i = 0; i < n; i++)
        add(h, i);
}

/* Calls itself. */
__attribute__((noinline)) static long total(struct heap *h, long n)
{
    return n ? h->item[n & 63] + total(h, n - 1) : 0;
}

/* Takes any number of arguments. */
__attribute__((noinline)) static void add_all(struct heap *h, int n, ...)
{
    va_list all;
    va_start(all, n);
    for (int i = 0; i < n; i++)
        h->item[i & 63] += va_arg(all, long);
    va_end(all);
}

/* Jumps to addresses: no copy. */
__attribute__((noinline)) static long jump(struct heap *h, int n)
{
    static const void *const steps[] = {&&one, &&two};
    goto *steps[n & 1];
one:
    h->item[0] += n;
two:
    return h->item[1];
}

static void *worker(void *arg)
{
    struct heap *mine = calloc(1, sizeof *mine);
    fill(mine, 100); /* its own */
    add_all(mine, 2, 1l, 2l);
    long sum = total(mine, 20) + jump(mine, 1);
    fill(heap, 3); /* everybody's */
    add_all(heap, 2, 1l, 2l);
    sum += total(heap, 3) + jump(heap, 1);
    behind(heap, 1);
    free(mine);
    (void)arg;
    return (void *)sum;
}

int main(void)
{
    pthread_t t[2];
    heap = calloc(1, sizeof *heap);
    behind = add;
#ifndef LATE
    fill(heap, 50);
#endif
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
#ifdef LATE
    fill(heap, 50);
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    add_all(heap, 1, 5l);
    printf("%d\n", total(heap, 4) + jump(heap, 0) > 0);
    return 0;
}
