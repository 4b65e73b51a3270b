/* A request goes to a worker process over a socket pair, and its answer comes back there; two threads that use the same
 * worker take each other's answers. Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int worker_socket;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void serve(int s)
{
    unsigned char c;
    while (read(s, &c, 1) == 1) {
        c += 100;
        if (write(s, &c, 1) != 1)
            _exit(2);
    }
    _exit(0);
}

static void *client(void *arg)
{
    unsigned char c = (unsigned char)(long)arg, answer = 0;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (write(worker_socket, &c, 1) != 1 || read(worker_socket, &answer, 1) != 1)
        abort();
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert(answer == c + 100);
    return NULL;
}

static void *supervisor(void *arg)
{
    int pair[2], status = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        abort();
    pid_t worker = fork();
    if (worker == 0) {
        close(pair[0]);
        serve(pair[1]);
    }
    close(pair[1]);
    worker_socket = pair[0];
    RUN(client, client);
    close(pair[0]);
    waitpid(worker, &status, 0);
    assert(status == 0);
    return arg;
}

int main(void)
{
    finish(start(supervisor, 0));
    (void)lock;
    return 0;
}
