/* Under pso a flag overtakes what it announces, unless it is released; a store of another size finds the buffer empty.
 * drive: --strategy=dpor --systematic --model=pso --no-races --look-for=assertion
 * stale: data flag released_data released wide
 * expect: found assertion: .*data == 0x10001
 * refuse: found assertion: .*released_data
 * refuse: found assertion: .*wide
 * replay: found assertion: .*data == 0x10001 */
#include <assert.h>
#include <pthread.h>

static int data, flag, released_data, released, wide;

static void *write_all(void *unused)
{
    data = 0x10001;
    flag = 1;
    released_data = 1;
    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
    wide = 0x10001;
    *(volatile short *)&wide = 2;
    return unused;
}

static void *read_all(void *unused)
{
    if (flag)
        assert(data == 0x10001);
    if (__atomic_load_n(&released, __ATOMIC_ACQUIRE))
        assert(released_data == 1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, write_all, NULL);
    pthread_create(&b, NULL, read_all, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(wide == 0x10002);
    return 0;
}
