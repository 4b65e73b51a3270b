/* A handler that synchronises strikes the recorder wherever it is; with an argument it often leaves by siglongjmp. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>

static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long handled;
static int data[65536], jumps, times = 80;
static _Atomic long posts;
static sigjmp_buf back;

static void handler(int number)
{
    (void)number;
    handled++;
    for (int i = 0; i < 20; i++)
        data[i * 64]++;
    atomic_fetch_add(&posts, 1);
    sem_post(&semaphore);
    if (jumps && handled % 2 == 0)
        siglongjmp(back, 1);
}

static void *waiter(void *unused)
{
    for (int i = 0; i < times; i++)
        while (sem_wait(&semaphore) != 0)
            ;
    return unused;
}

static void set_timer(long microseconds)
{
    struct itimerval every = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &every, NULL);
}

static void work(unsigned x)
{
    while (handled < times) {
        x = x * 1664525 + 1013904223;
        data[x >> 16]++;
        if (jumps || x % 7 == 0)
            atomic_fetch_add(&posts, 0);
        if (!jumps && x % 31 == 0) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    jumps = argc > 1;
    if (jumps) /* some of them while an event is being numbered */
        times = 1000;
    pthread_t t;
    sigset_t all;
    struct sigaction action = {.sa_handler = handler};
    sem_init(&semaphore, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_create(&t, NULL, waiter, NULL);
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    sigaction(SIGALRM, &action, NULL);
    set_timer(jumps ? 100 : 300);
    sigsetjmp(back, 1);
    work((unsigned)handled);
    set_timer(0);
    pthread_join(t, NULL);
    printf("%ld\n", handled >= times ? times : handled);
    return 0;
}
