/* One assertion, come to from three places. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int made, used;

static void same(int a, int b)
{
    assert(a == b);
}

static void *maker(void *p)
{
    int n = atomic_load(&made);
    atomic_store(&made, n + 1);
    return p;
}

static void *user(void *p)
{
    int n = atomic_load(&used);
    atomic_store(&used, n + 1);
    if (atomic_load(&made) == 1)
        same(atomic_load(&used), 2);
    return p;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, i < 2 ? maker : user, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    same(atomic_load(&made), 2);
    same(atomic_load(&used), 2);
}
