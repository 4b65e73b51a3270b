/* Self-pipe trick: the handler writes a byte for the loop and raises a flag. The loop takes the byte, handles the flag and
 * clears it; a signal in between is cleared with it. Expected: assertion. */
#define _GNU_SOURCE
#include "threads.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static int self[2];
static volatile sig_atomic_t pending, sent, handled;

static void on_signal(int number)
{
    char c = (char)number;
    sent++;
    pending = 1;
    if (write(self[1], &c, 1) != 1)
        return;
}

static void *client(void *arg)
{
    pthread_t loop = *(pthread_t *)arg;
    pthread_kill(loop, SIGUSR1);
    pthread_kill(loop, SIGUSR2);
    return NULL;
}

int main(void)
{
    char c;
    pthread_t me = pthread_self(), t;
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaddset(&a.sa_mask, SIGUSR1);
    sigaddset(&a.sa_mask, SIGUSR2);
    if (pipe2(self, O_NONBLOCK | O_CLOEXEC))
        return 2;
    sigaction(SIGUSR1, &a, NULL);
    sigaction(SIGUSR2, &a, NULL);
    if (pthread_create(&t, NULL, client, &me))
        return 2;
    struct pollfd p = {.fd = self[0], .events = POLLIN};
    while (handled < 2) {
        if (poll(&p, 1, -1) < 0)
            continue;
        while (read(self[0], &c, 1) == 1) {
        }
        if (!pending) {
            assert(handled == sent);
            continue;
        }
#ifdef FIXED
        pending = 0;
        handled = sent;
#else
        handled = sent;
        pending = 0;
#endif
    }
    finish(t);
    return 0;
}
