/* Linked into memcached: a thread of the server's own process is its client, on a Unix socket. It stores two values,
 * reads them back over two connections, and asks the server to end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int dial(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path, path, sizeof to.sun_path - 1);
    for (;;) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
            return fd;
        close(fd);
        usleep(1000);
    }
}

/* Until the answer ends so. */
static void ask(int fd, const char *request, const char *end)
{
    char answer[512];
    size_t n = 0;
    if (write(fd, request, strlen(request)) < 0)
        abort();
    do {
        ssize_t got = read(fd, answer + n, sizeof answer - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        answer[n] = 0;
    } while (!strstr(answer, end));
    fputs(n ? answer : "closed\n", stdout);
}

static void *client(void *path)
{
    int one = dial(path), other = dial(path);
    ask(one, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    ask(other, "set b 0 0 1\r\n2\r\n", "STORED\r\n");
    ask(one, "incr b 5\r\n", "\r\n");
    ask(other, "get a b\r\n", "END\r\n");
    ask(one, "shutdown\r\n", "\n");
    return NULL;
}

__attribute__((constructor)) static void start(void)
{
    static pthread_t thread;
    char *path = getenv("MEMCACHED_CLIENT");
    if (path)
        pthread_create(&thread, NULL, client, path);
}
