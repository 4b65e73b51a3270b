/* Who sees exactly six of twelve steps works for ever, without a step of its own. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int steps;

static void *stepper(void *arg)
{
    for (int i = 0; i < 12; i++)
        steps++;
    return arg;
}

static void *watcher(void *arg)
{
    if (steps == 6)
        for (;;)
            __asm__ volatile("");
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, stepper, 0);
    pthread_create(&b, 0, watcher, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
