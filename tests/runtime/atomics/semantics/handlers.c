// A signal handler works on the very atomics that the thread it interrupts is working on.
// FLAGS: -pthread
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>

static atomic_long shared, runs;
static long by_main[2];

static void handler(int number)
{
    (void)number;
    atomic_fetch_add(&shared, 1000000);
    atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

static void *worker(void *arg)
{
    long *mine = arg;
    while (atomic_load_explicit(&runs, memory_order_relaxed) < 200) {
        atomic_fetch_add(&shared, 1);
        ++*mine;
    }
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_t t;
    pthread_create(&t, NULL, worker, &by_main[1]);
    worker(&by_main[0]);
    setitimer(ITIMER_REAL, &never, NULL);
    pthread_join(t, NULL);
    long n = atomic_load(&shared);
    printf("%d\n", n == by_main[0] + by_main[1] + runs * 1000000);
    return 0;
}
