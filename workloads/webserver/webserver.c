/* A web server with its clients, over sockets on the loopback interface. An acceptor hands connections to workers; a
 * worker asks the security manager, loads the resource from the resource store and answers; half-way the store is shut
 * down, and from then on the server answers "503". Three things are wrong, all of them found in a server of this kind:
 *  - load_resource() checks that the store is open and looks the entry up in two synchronised steps, so that an entry
 *    may be added to a store that has been shut down between them;
 *  - the security manager is created on first use, without a lock: there may be two;
 *  - the timer thread reads its `done` flag outside the lock under which it is set (it takes the lock in every round).
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BODY = 1024, LINE = 128, REPLY = BODY + LINE, PRIVATE_EVERY = 8 };

struct entry {
    char path[LINE];
    char body[BODY + 1];
    struct entry *next;
};

struct store {
    pthread_mutex_t lock;
    struct entry *entries;
    bool closed;
};

struct security {
    pthread_mutex_t lock;
    const char *forbidden; /* prefix of the paths that nobody may see */
    long denied;
};

struct timer {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    long ticks;
};

struct access_log {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    long served;
};

/* Connections that wait for a worker; -1 ends the workers. */
struct backlog {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int *sockets;
    int head, tail;
};

struct client {
    pthread_t thread;
    int id;
    long ok, denied, unavailable, wrong;
};

#define MONITOR {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}
static struct store store = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct security *security;
static struct timer timer = MONITOR;
static struct access_log access_log = MONITOR;
static struct backlog backlog = MONITOR;
static struct sockaddr_in address;
static int listener;
static int n_workers = 2; /* and as many clients */
static long n_requests = 200;
static int n_resources = 16;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

/* ---- resources ---- */

/* What a path's body must be; server and clients compute it alike. */
static void render(const char *path, char *body)
{
    unsigned state = 2166136261u;
    for (const char *p = path; *p; p++)
        state = (state ^ (unsigned char)*p) * 16777619u;
    for (int i = 0; i < BODY; i++) {
        state = state * 1664525u + 1013904223u;
        body[i] = (char)('a' + (state >> 8) % 26);
    }
    body[BODY] = '\0';
}

#ifndef FIXED
static bool is_closed(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    bool closed = s->closed;
    pthread_mutex_unlock(&s->lock);
    return closed;
}
#endif

static struct entry *new_entry(const char *path)
{
    struct entry *e = calloc(1, sizeof *e);
    snprintf(e->path, sizeof e->path, "%s", path);
    render(path, e->body);
    return e;
}

/* New entries go to the end: a walk passes the old ones in the same order always. */
static struct entry *find_or_add(struct store *s, const char *path)
{
    struct entry *last = NULL, *e = s->entries;
    while (e && strcmp(e->path, path) != 0) {
        last = e;
        e = e->next;
    }
    if (e)
        return e;
    e = new_entry(path);
    if (last)
        last->next = e;
    else
        s->entries = e;
    return e;
}

/* The body is copied out under the lock, since a store that is shut down frees its entries. */
static bool lookup_entry(struct store *s, const char *path, char *body)
{
    bool open = true;
    pthread_mutex_lock(&s->lock);
#ifdef FIXED
    open = !s->closed;
#endif
    if (open)
        memcpy(body, find_or_add(s, path)->body, BODY + 1);
    pthread_mutex_unlock(&s->lock);
    return open;
}

static bool load_resource(struct store *s, const char *path, char *body)
{
#ifndef FIXED
    if (is_closed(s))
        return false;
#endif
    return lookup_entry(s, path, body);
}

static void shut_down_store(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->entries) {
        struct entry *e = s->entries;
        s->entries = e->next;
        free(e);
    }
    s->closed = true;
    pthread_mutex_unlock(&s->lock);
}

/* ---- security manager ---- */

static struct security *new_security(void)
{
    struct security *s = malloc(sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->forbidden = "/private/";
    s->denied = 0;
    return s;
}

#ifdef FIXED
static void create_security(void)
{
    security = new_security();
}
#endif

static struct security *get_security(void)
{
#ifdef FIXED
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, create_security);
#else
    if (!security)
        security = new_security();
#endif
    return security;
}

static bool may_see(struct security *s, const char *path)
{
    bool allowed = strncmp(path, s->forbidden, strlen(s->forbidden)) != 0;
    if (!allowed) {
        pthread_mutex_lock(&s->lock);
        s->denied++;
        pthread_mutex_unlock(&s->lock);
    }
    return allowed;
}

/* ---- timer: counts ticks of 2 ms while the server runs ---- */

static bool timer_done(void)
{
#ifdef FIXED
    pthread_mutex_lock(&timer.lock);
    bool done = timer.done;
    pthread_mutex_unlock(&timer.lock);
    return done;
#else
    return timer.done;
#endif
}

static void *timer_thread(void *unused)
{
    (void)unused;
    while (!timer_done()) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_mutex_lock(&timer.lock);
        pthread_cond_timedwait(&timer.changed, &timer.lock, &until);
        timer.ticks++;
        pthread_mutex_unlock(&timer.lock);
    }
    return NULL;
}

static void stop_timer(void)
{
    pthread_mutex_lock(&timer.lock);
    timer.done = true;
    pthread_cond_signal(&timer.changed);
    pthread_mutex_unlock(&timer.lock);
}

/* ---- sockets ---- */

static void send_all(int socket, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        ssize_t n = send(socket, text, left, MSG_NOSIGNAL);
        if (n <= 0)
            die("send");
        text += n;
        left -= (size_t)n;
    }
}

/* A message ends with an empty line. False: the other side has closed. */
static bool receive(int socket, char *text, size_t size)
{
    size_t n = 0;
    while (n + 1 < size) {
        ssize_t got = recv(socket, text + n, size - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        text[n] = '\0';
        if (n >= 2 && memcmp(text + n - 2, "\n\n", 2) == 0)
            return true;
    }
    return false;
}

/* ---- server ---- */

static void count_served(void)
{
    pthread_mutex_lock(&access_log.lock);
    access_log.served++;
    pthread_cond_signal(&access_log.changed);
    pthread_mutex_unlock(&access_log.lock);
}

static void wait_until_served(long count)
{
    pthread_mutex_lock(&access_log.lock);
    while (access_log.served < count)
        pthread_cond_wait(&access_log.changed, &access_log.lock);
    pthread_mutex_unlock(&access_log.lock);
}

static void answer(const char *request, char *reply)
{
    char path[LINE], body[BODY + 1];
    if (sscanf(request, "GET %100s", path) != 1)
        snprintf(reply, REPLY, "HTTP/1.0 400\n\n");
    else if (!may_see(get_security(), path))
        snprintf(reply, REPLY, "HTTP/1.0 403\n\n");
    else if (!load_resource(&store, path, body))
        snprintf(reply, REPLY, "HTTP/1.0 503\n\n");
    else
        snprintf(reply, REPLY, "HTTP/1.0 200\n%s\n\n", body);
}

static void serve_connection(int socket)
{
    char request[LINE], reply[REPLY];
    while (receive(socket, request, sizeof request)) {
        answer(request, reply);
        count_served();
        send_all(socket, reply);
    }
    close(socket);
}

static void backlog_push(int socket)
{
    pthread_mutex_lock(&backlog.lock);
    backlog.sockets[backlog.tail++] = socket;
    pthread_cond_signal(&backlog.changed);
    pthread_mutex_unlock(&backlog.lock);
}

static int backlog_take(void)
{
    pthread_mutex_lock(&backlog.lock);
    while (backlog.head == backlog.tail)
        pthread_cond_wait(&backlog.changed, &backlog.lock);
    int socket = backlog.sockets[backlog.head++];
    pthread_mutex_unlock(&backlog.lock);
    return socket;
}

static void *worker(void *unused)
{
    int socket;
    (void)unused;
    while ((socket = backlog_take()) >= 0)
        serve_connection(socket);
    return NULL;
}

/* Every client comes once. */
static void *acceptor(void *unused)
{
    (void)unused;
    for (int i = 0; i < n_workers; i++) {
        int socket = accept(listener, NULL, NULL), on = 1;
        if (socket < 0)
            die("accept");
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        backlog_push(socket);
    }
    for (int i = 0; i < n_workers; i++)
        backlog_push(-1);
    return NULL;
}

static void open_listener(void)
{
    socklen_t size = sizeof address;
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, n_workers) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) < 0)
        die("listen on the loopback interface");
}

/* ---- clients ---- */

static void check_reply(struct client *c, const char *path, const char *reply)
{
    char body[BODY + 1];
    int status = 0;
    sscanf(reply, "HTTP/1.0 %d", &status);
    render(path, body);
    if (status == 403)
        c->denied++;
    else if (status == 503)
        c->unavailable++;
    else if (status == 200 && strncmp(strchr(reply, '\n') + 1, body, BODY) == 0)
        c->ok++;
    else
        c->wrong++;
}

static void ask(struct client *c, int socket, long i)
{
    char path[LINE / 2], request[LINE], reply[REPLY];
    bool private = i % PRIVATE_EVERY == 0;
    snprintf(path, sizeof path, "%s%ld.html", private ? "/private/" : "/", (i + c->id) % n_resources);
    snprintf(request, sizeof request, "GET %s HTTP/1.0\n\n", path);
    send_all(socket, request);
    if (receive(socket, reply, sizeof reply))
        check_reply(c, path, reply);
    else
        c->wrong++;
}

static void *client(void *arg)
{
    struct client *c = arg;
    int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address) < 0)
        die("connect");
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (long i = 0; i < n_requests; i++)
        ask(c, s, i);
    close(s);
    return NULL;
}

/* ---- main ---- */

static int check(const struct client *clients)
{
    long denied = 0, answered = 0, wrong = 0;
    for (int i = 0; i < n_workers; i++) {
        denied += clients[i].denied;
        wrong += clients[i].wrong;
        answered += clients[i].ok + clients[i].denied + clients[i].unavailable;
    }
    if (wrong || answered != n_workers * n_requests)
        printf("FAILED: %ld wrong answers\n", wrong);
    else if (store.entries)
        puts("FAILED: an entry was added to a store that is shut down");
    else if (n_requests > 0 && denied != security->denied)
        printf("FAILED: %ld requests denied, the security manager knows of %ld\n", denied, security->denied);
    else
        return puts("ok"), 0;
    return 1;
}

static void run(struct client *clients)
{
    pthread_t accepting, ticking, *workers = calloc((size_t)n_workers, sizeof *workers);
    pthread_create(&ticking, NULL, timer_thread, NULL);
    pthread_create(&accepting, NULL, acceptor, NULL);
    for (int i = 0; i < n_workers; i++) {
        clients[i].id = i;
        pthread_create(&workers[i], NULL, worker, NULL);
        pthread_create(&clients[i].thread, NULL, client, &clients[i]);
    }
    wait_until_served(n_workers * n_requests / 2);
    shut_down_store(&store);
    for (int i = 0; i < n_workers; i++)
        pthread_join(clients[i].thread, NULL);
    pthread_join(accepting, NULL);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    stop_timer();
    pthread_join(ticking, NULL);
    free(workers);
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout,
            "usage: %s [-t workers, and as many clients] [-n requests of each client] [-r resources]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:r:h")) != -1) {
        if (c == 't')
            n_workers = atoi(optarg);
        else if (c == 'n')
            n_requests = atol(optarg);
        else if (c == 'r')
            n_resources = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_workers < 1 || n_requests < 0 || n_resources < 1)
        return usage(argv[0], 2);

    struct client *clients = calloc((size_t)n_workers, sizeof *clients);
    backlog.sockets = calloc(2 * (size_t)n_workers, sizeof *backlog.sockets);
    open_listener();
    run(clients);
    int result = check(clients);
    close(listener);
    free(clients);
    free(backlog.sockets);
    return result;
}
