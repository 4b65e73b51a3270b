/* Handlers run on an alternate stack, which each thread has of its own. Hosted. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

static char stacks[2][1 << 16];
static volatile sig_atomic_t outside;

static void handles(int number)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    (void)number;
    if (here - (uintptr_t)stacks >= sizeof stacks)
        outside = 1;
}

static void *raises(void *p)
{
    stack_t s = {.ss_sp = p, .ss_size = sizeof stacks[0]};
    sigaltstack(&s, 0);
    raise(SIGUSR1);
    s.ss_flags = SS_DISABLE;
    sigaltstack(&s, 0);
    return 0;
}

int main(void)
{
    pthread_t t[2];
    struct sigaction a = {.sa_handler = handles, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &a, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, raises, stacks[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return outside;
}
