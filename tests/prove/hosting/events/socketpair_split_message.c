/* Two threads write header and body of their messages to one stream in two calls: headers and bodies get mixed.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *sender(void *arg)
{
    char mine = (char)('a' + (long)arg);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    assert(write(ends[0], &mine, 1) == 1);
    assert(write(ends[0], &mine, 1) == 1);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    char text[4];
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    RUN(sender, sender);
    assert(read(ends[1], text, sizeof text) == 4);
    assert(text[0] == text[1]);
    return 0;
}
