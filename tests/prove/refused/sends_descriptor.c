/* Descriptors are sent over a socket.
 * Refused: descriptors sent over a socket at .*sends_descriptor\.c:\d+, or hosted */
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static void *sends(void *p)
{
    char c = 'x';
    union {
        struct cmsghdr h;
        char room[CMSG_SPACE(sizeof(int))];
    } u;
    struct iovec piece = {&c, 1};
    struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &u, .msg_controllen = sizeof u.room};
    memset(&u, 0, sizeof u);
    u.h = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    int fd = 1;
    memcpy(CMSG_DATA(&u.h), &fd, sizeof fd);
    return sendmsg(pair[0], &m, 0) == 1 ? p : (void *)1;
}

int main(void)
{
    pthread_t t;
    char c;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pthread_create(&t, 0, sends, 0);
    pthread_join(t, 0);
    return read(pair[1], &c, 1) != 1;
}
