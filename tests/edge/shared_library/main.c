#include <pthread.h>
#include <stdio.h>
extern int lib_data[4], lib_copied;
extern __thread int lib_tls;
int lib_sum(int (*)(int)), lib_thread(void);
int overridden(void)
{
    return 2;
}
static int twice(int x)
{
    return 2 * x;
}
static void *thread(void *arg)
{
    lib_tls += 2;
    lib_thread();
    return (void *)(long)(lib_thread() + (arg != NULL));
}

int main(void)
{
    pthread_t t;
    void *r;
    lib_copied = 7;
    int a = lib_sum(twice), b = lib_sum(twice);
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, &r);
    printf("%d %d %d %ld %d\n", a, b, lib_data[3], (long)r, lib_thread());
    return 0;
}
