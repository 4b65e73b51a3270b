// Atomics at addresses that are not there: the handler jumps away, and everything goes on as before.
// FLAGS: -pthread -latomic
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;
static volatile int faults;
static long counter;

static void handler(int number)
{
    (void)number;
    faults++;
    siglongjmp(back, 1);
}

static long *nowhere(long offset)
{
    long *p = (long *)offset;
    __asm__ volatile("" : "+r"(p));
    return p;
}

static void *adder(void *arg)
{
    for (int i = 0; i < 2000; i++)
        __atomic_fetch_add(&counter, 1, __ATOMIC_ACQ_REL);
    return arg;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGSEGV, &action, NULL);
    for (long i = 1; i <= 40; i++) {
        if (sigsetjmp(back, 1))
            continue;
        if (i % 4 == 0)
            __atomic_store_n(nowhere(i * 64), 1, __ATOMIC_RELEASE);
        else if (i % 4 == 1)
            __atomic_fetch_add(nowhere(i * 64), 1, __ATOMIC_SEQ_CST);
        else if (i % 4 == 2)
            printf("%ld\n", __atomic_load_n(nowhere(i * 64), __ATOMIC_ACQUIRE));
        else {
            long zero = 0;
            __atomic_compare_exchange_n(nowhere(i * 64), &zero, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        }
    }
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, adder, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d %ld\n", faults, counter);
    return 0;
}
