/* Two threads wait for bytes that the other one does not send, over a connection of their own, while somebody could
 * still connect; with an argument one of them spins instead. */
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static volatile int is_ready;

static void *client(void *arg)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    char byte;
    if (connect(s, (struct sockaddr *)&address, sizeof address) == 0)
        while (read(s, &byte, 1) == 1)
            ;
    return arg;
}

static void *spinner(void *arg)
{
    while (!is_ready) {
    }
    return arg;
}

int main(int argc, char **argv)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t n = sizeof address;
    pthread_t t;
    char byte;
    (void)argv;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener, (struct sockaddr *)&address, sizeof address);
    listen(listener, 1);
    getsockname(listener, (struct sockaddr *)&address, &n);
    pthread_create(&t, NULL, argc > 1 ? spinner : client, NULL);
    if (argc == 1)
        (void)!read(accept(listener, NULL, NULL), &byte, 1);
    pthread_join(t, NULL);
    return 0;
}
