/* Two threads hand a connection each, one end of a socket pair, to a server that polls in a thread of its own, and ask
 * it for a page. */
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

enum { CLIENTS = 2 };

static struct MHD_Daemon *server;

static enum MHD_Result page(void *unused, struct MHD_Connection *c, const char *url, const char *method,
                            const char *version, const char *data, size_t *size, void **state)
{
    static char text[] = "here";
    (void)unused, (void)url, (void)method, (void)version, (void)data, (void)size, (void)state;
    struct MHD_Response *r = MHD_create_response_from_buffer(sizeof text - 1, text, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result queued = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return queued;
}

static void *client(void *ok)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    struct sockaddr from = {.sa_family = AF_UNIX};
    char answer[1024];
    size_t n = 0;
    ssize_t got;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || MHD_add_connection(server, ends[0], &from, sizeof from) != MHD_YES)
        return NULL;
    if (write(ends[1], request, sizeof request - 1) < 0)
        return NULL;
    while ((got = read(ends[1], answer + n, sizeof answer - 1 - n)) > 0)
        n += (size_t)got;
    answer[n] = 0;
    *(int *)ok = strstr(answer, "\r\n\r\nhere") != NULL;
    close(ends[1]);
    return NULL;
}

int main(void)
{
    pthread_t threads[CLIENTS];
    int ok[CLIENTS] = {0}, answered = 0;
    server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
                              0, NULL, NULL, page, NULL, MHD_OPTION_END);
    if (!server)
        return 2;
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, client, &ok[i]);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        answered += ok[i];
    }
    MHD_stop_daemon(server);
    printf("%d answered\n", answered);
    return answered != CLIENTS;
}
