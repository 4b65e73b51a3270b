/* Main goes through a section by the linker's bounds, the thread uses its variables by name. finds: race */
#include <pthread.h>
#include <stdio.h>

static int count __attribute__((section("counters"), used));
extern int __start_counters[], __stop_counters[];

static void *writer(void *arg)
{
    count++;
    return arg;
}

int main(void)
{
    pthread_t t;
    int sum = 0;
    pthread_create(&t, NULL, writer, NULL);
    for (int *p = __start_counters; p < __stop_counters; p++)
        sum += *p;
    pthread_join(t, NULL);
    printf("%d\n", sum != 12345);
    return 0;
}
