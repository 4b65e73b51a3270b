/* A thread sleeps by the system call itself, with assembly before it; it is woken before it sleeps, or never. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;

static void sleep_on(atomic_int *at)
{
    unsigned low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void *sleeper(void *unused)
{
    sleep_on(&word);
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, sleeper, NULL);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); /* the word is left as it was */
    pthread_join(t, NULL);
    return 0;
}
