/* A loop has a deadline of a quarter of an hour, for a hung peer, whose end is a crash: it never comes while a thread
 * can still write. What the loop read is counted without the lock. Expected: race on `received`. */
#include "threads.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { QUARTER_OF_AN_HOUR_MS = 15 * 60 * 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], received;

static void *loop(void *arg)
{
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    char byte;
    for (int i = 0; i < 2; i++) {
        if (poll(&p, 1, QUARTER_OF_AN_HOUR_MS) != 1)
            abort();
        if (read(ends[0], &byte, 1) != 1)
            abort();
#ifdef FIXED
        pthread_mutex_lock(&lock);
#endif
        received++;
#ifdef FIXED
        pthread_mutex_unlock(&lock);
#endif
    }
    return arg;
}

static void *writer(void *arg)
{
    own_work();
    if (write(ends[1], "", 1) != 1)
        abort();
    return arg;
}

int main(void)
{
    if (pipe(ends))
        return 2;
    pthread_t t = start(loop, 0), first = start(writer, 0), second = start(writer, 0);
    pthread_mutex_lock(&lock);
    int seen = received;
    pthread_mutex_unlock(&lock);
    finish(first);
    finish(second);
    finish(t);
    return seen > 2;
}
