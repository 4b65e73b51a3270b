/* Text goes through a child process (cat); writer and reader of its pipes share a length without a lock.
 * Expected: race on `sent`. */
#include "threads.h"

#include <sys/wait.h>
#include <unistd.h>

static int to[2], from[2], sent;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *writer(void *arg)
{
    if (write(to[1], "hello", 5) != 5)
        abort();
    close(to[1]);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    sent = 5;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *reader(void *arg)
{
    char text[16];
    int got = 0;
    for (ssize_t n; (n = read(from[0], text, sizeof text)) > 0;)
        got += (int)n;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (got != sent)
        got = 0;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    int status;
    if (pipe(to) || pipe(from))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[0]), close(to[1]), close(from[0]), close(from[1]);
        execl("/bin/cat", "cat", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    RUN(writer, reader);
    waitpid(child, &status, 0);
    return 0;
}
