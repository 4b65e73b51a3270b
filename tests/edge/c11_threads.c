// C11 threads.h: threads, mutexes, conditions, tss with destructors, call_once, results.
// FLAGS: -pthread
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

static mtx_t lock;
static cnd_t full;
static tss_t slot;
static once_flag once = ONCE_FLAG_INIT;
static int queue[10], head, freed;
static thread_local int mine;

static void setup(void)
{
    queue[9] = 99;
}
static void drop(void *p)
{
    mtx_lock(&lock);
    freed++;
    mtx_unlock(&lock);
    free(p);
}
static int producer(void *arg)
{
    call_once(&once, setup);
    tss_set(slot, malloc(8));
    for (int i = 0; i < 4; i++) {
        mtx_lock(&lock);
        queue[head++] = *(int *)arg + i;
        mine++;
        cnd_signal(&full);
        mtx_unlock(&lock);
        thrd_yield();
    }
    return mine;
}

int main(void)
{
    thrd_t a, b;
    int one = 100, two = 200, ra, rb, sum = 0;
    mtx_init(&lock, mtx_plain | mtx_recursive);
    cnd_init(&full);
    tss_create(&slot, drop);
    thrd_create(&a, producer, &one);
    thrd_create(&b, producer, &two);
    mtx_lock(&lock);
    while (head < 8)
        cnd_wait(&full, &lock);
    mtx_unlock(&lock);
    thrd_join(a, &ra);
    thrd_join(b, &rb);
    for (int i = 0; i < 10; i++)
        sum += queue[i];
    printf("%d %d %d %d %d\n", sum, ra, rb, freed, mine);
    return 0;
}
