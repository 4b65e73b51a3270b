/* A signal to one thread: its handler runs there, in some schedules before it looks, whatever others block; a thread
 * that blocks it has it when it no longer does; what was done before it was sent is seen. Locks hold meanwhile.
 * drive: --schedules=3000 --strategy=dpor --visible=all
 * expect: found assertion: .*!asked
 * refuse: found (race|deadlock|crash)
 * refuse: wrong
 * replay: found assertion */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t patient;
static int told, changes;
static volatile sig_atomic_t asked;

static void on_ask(int signal)
{
    (void)signal;
    if (told != 1 || !pthread_equal(pthread_self(), patient))
        puts("wrong"), abort();
    asked = 1;
}

static void change(void)
{
    pthread_mutex_lock(&lock);
    changes++;
    pthread_mutex_unlock(&lock);
}

static void *waits_for_it(void *arg)
{
    sigset_t set;
    (void)arg;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    change();
    assert(!asked);
    return NULL;
}

int main(void)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signal(SIGUSR1, on_ask);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&patient, NULL, waits_for_it, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &old);
    if (!sigismember(&old, SIGUSR1))
        puts("wrong");
    told = 1;
    pthread_kill(patient, SIGUSR1);
    change();
    pthread_join(patient, NULL);
    return changes != 2;
}
