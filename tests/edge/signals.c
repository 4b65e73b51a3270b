// Signals: handlers that touch memory, nested delivery, queued values, masks, pause in a thread.
// FLAGS: -pthread
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t order[8], count;
static atomic_int sum;
static int table[64];

static void on_usr1(int sig)
{
    order[count++] = 1;
    for (int i = 0; i < 64; i++)
        table[i] += sig;
    raise(SIGUSR2);
    order[count++] = 3;
}
static void on_usr2(int sig)
{
    (void)sig;
    order[count++] = 2;
}
static void on_queue(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    atomic_fetch_add(&sum, info->si_value.sival_int);
}
static void *waiter(void *arg)
{
    sigset_t *set = arg;
    int sig = 0;
    sigwait(set, &sig);
    return (void *)(long)sig;
}

int main(void)
{
    struct sigaction sa = {.sa_handler = on_usr1};
    sigaction(SIGUSR1, &sa, NULL);
    signal(SIGUSR2, on_usr2);
    sa = (struct sigaction){.sa_sigaction = on_queue, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGRTMIN + 3, &sa, NULL);
    raise(SIGUSR1);
    for (int i = 0; i < count; i++)
        printf("%d ", order[i]);
    printf("| %d\n", table[63] == SIGUSR1);
    sigset_t block;
    sigemptyset(&block);
    sigaddset(&block, SIGRTMIN + 3);
    sigaddset(&block, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &block, NULL);
    for (int i = 1; i <= 10; i++)
        sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = i});
    printf("%d\n", atomic_load(&sum));
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_t t;
    pthread_create(&t, NULL, waiter, &term);
    pthread_kill(t, SIGTERM);
    void *got;
    pthread_join(t, &got);
    sigdelset(&block, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &block, NULL);
    printf("%d %d\n", atomic_load(&sum), (int)(long)got == SIGTERM);
    return 0;
}
