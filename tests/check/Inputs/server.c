/* Server on loopback with a client inside; a worker thread per connection; the hits counter is not locked. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 3, EACH = 4 };
static int listener, port;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long hits, bytes;

static void *serve(void *arg)
{
    int fd = (int)(long)arg;
    char buffer[64];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0) {
#ifdef FIXED
        pthread_mutex_lock(&lock);
        hits++;
        bytes += n;
        pthread_mutex_unlock(&lock);
#else
        hits++;
        pthread_mutex_lock(&lock);
        bytes += n;
        pthread_mutex_unlock(&lock);
#endif
        if (write(fd, buffer, (size_t)n) != n)
            break;
    }
    close(fd);
    return NULL;
}

static void *client(void *arg)
{
    (void)arg;
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char buffer[64];
    if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        exit(2);
    for (int i = 0; i < EACH; i++) {
        if (write(fd, "hello", 5) != 5)
            exit(3);
        size_t got = 0;
        while (got < 5) {
            ssize_t n = read(fd, buffer, sizeof buffer);
            if (n <= 0)
                exit(4);
            got += (size_t)n;
        }
    }
    close(fd);
    return NULL;
}

int main(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    pthread_t clients[CLIENTS], workers[CLIENTS];
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 8) ||
        getsockname(listener, (struct sockaddr *)&a, &n))
        return 5;
    port = ntohs(a.sin_port);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++) {
        int fd = accept(listener, NULL, NULL);
        pthread_create(&workers[i], NULL, serve, (void *)(long)fd);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(workers[i], NULL);
    printf("hits %ld bytes %ld\n", hits, bytes);
    return bytes != CLIENTS * EACH * 5 || hits < CLIENTS * EACH;
}
