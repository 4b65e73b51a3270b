/* Signals at any moment, in many threads that come and go: nothing of the runtime's may lock up or lose balance. */
#include "by_hand.h"

#include "runtime/core/context.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static uint32_t handled;

NOINLINE static void handler(int signal)
{
    ENTER;
    (void)signal;
    dh_context_intern(&__dh_thread);
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    LEAVE;
}

NOINLINE static void work(int n)
{
    ENTER;
    if (n)
        work(n - 1);
    else
        dh_context_intern(&__dh_thread);
    LEAVE;
}

static void *routine(void *arg)
{
    ENTER;
    for (int i = 0; i < 20; i++)
        work(i * 37 % 500);
    CHECK(__dh_thread.depth == dh_depth + 1);
    LEAVE;
    return arg;
}

int main(void)
{
    ENTER;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 50}, {0, 50}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    time_t until = time(NULL) + 3;
    while (time(NULL) < until) {
        pthread_t t[4];
        for (int i = 0; i < 4; i++)
            CHECK(pthread_create(&t[i], NULL, routine, NULL) == 0);
        for (int i = 0; i < 4; i++)
            CHECK(pthread_join(t[i], NULL) == 0);
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    CHECK(handled > 1000);
    CHECK(__dh_thread.depth == dh_depth + 1);
    LEAVE;
    return 0;
}
