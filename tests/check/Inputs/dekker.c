/* Both raise their flag and look at the other's: without sequential consistency both may get in. */
#include <pthread.h>
#include <stdatomic.h>

#ifdef FIXED
#define ORDER memory_order_seq_cst
#else
#define ORDER memory_order_relaxed
#endif

static atomic_int flag[2];
static int inside;

static void *visitor(void *arg)
{
    int me = *(int *)arg;
    atomic_store_explicit(&flag[me], 1, ORDER);
    if (!atomic_load_explicit(&flag[1 - me], ORDER))
        inside++;
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int number[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, visitor, &number[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return inside > 1;
}
