/* A web crawler on a site that lives in the process: workers take addresses from a queue, open a connection, read the
 * page, and queue the links they find. When the last page is in, the manager breaks off the connections still open:
 * it tests a worker's `connection` and then uses it, while the worker, done with its page, sets it to NULL.
 * The worker closes right after it has reported its page, so the manager nearly always comes too late to see it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS = 3, PAGE_SIZE = 4096, CHUNK = 256 };

struct connection {
    int page;
    size_t position;
    atomic_bool stop;
};

struct worker {
    pthread_t thread;
    int id;
#ifdef FIXED
    pthread_mutex_t lock;
#endif
    struct connection *connection; /* NULL: none open */
    struct connection storage;
    char text[PAGE_SIZE + 1];
};

/* Addresses to visit, and the pages found so far. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t more, complete;
    int *pages;
    bool *known;
    int head, tail;
    int fetched;
    unsigned checksum;
    bool closed;
};

static struct queue queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .complete = PTHREAD_COND_INITIALIZER};
static struct worker *workers;
static int n_workers = 2;
static int n_pages = 200;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int broken_off;

/* ---- the site ---- */

static int link_of(int page, int i)
{
    static const int factor[LINKS] = {2, 2, 7};
    return (int)(((long)page * factor[i] + 1 + i) % n_pages);
}

/* A page is its links, one a line, padded with text that depends on the page. */
static void render(int page, char *text)
{
    size_t n = 0;
    for (int i = 0; i < LINKS; i++)
        n += (size_t)snprintf(text + n, PAGE_SIZE - n, "<a href=\"/%d\">\n", link_of(page, i));
    unsigned state = (unsigned)page;
    while (n < PAGE_SIZE) {
        state = state * 1664525u + 1013904223u;
        text[n++] = (char)('a' + (state >> 8) % 26);
    }
    text[n] = '\0';
}

static unsigned digest(const char *text)
{
    unsigned sum = 2166136261u;
    for (; *text; text++)
        sum = (sum ^ (unsigned char)*text) * 16777619u;
    return sum;
}

/* ---- connections ---- */

static void set_connection(struct worker *w, struct connection *c)
{
#ifdef FIXED
    pthread_mutex_lock(&w->lock);
#endif
    w->connection = c;
#ifdef FIXED
    pthread_mutex_unlock(&w->lock);
#endif
}

static void connect_to(struct worker *w, int page)
{
    w->storage.page = page;
    w->storage.position = 0;
    atomic_store(&w->storage.stop, false);
    set_connection(w, &w->storage);
}

/* Reads on until the page is complete or somebody stops the connection. */
static void read_page(struct connection *c, char *text)
{
    char whole[PAGE_SIZE + 1];
    render(c->page, whole);
    while (c->position < PAGE_SIZE && !atomic_load(&c->stop)) {
        memcpy(text + c->position, whole + c->position, CHUNK);
        c->position += CHUNK;
    }
    text[c->position] = '\0';
}

static void break_off(struct connection *c)
{
    atomic_store(&c->stop, true);
}

/* ---- queue ---- */

static void push_locked(int page)
{
    if (queue.known[page])
        return;
    queue.known[page] = true;
    queue.pages[queue.tail++] = page;
    pthread_cond_signal(&queue.more);
}

static int next_page(void)
{
    int page = -1;
    pthread_mutex_lock(&queue.lock);
    while (queue.head == queue.tail && !queue.closed)
        pthread_cond_wait(&queue.more, &queue.lock);
    if (queue.head < queue.tail)
        page = queue.pages[queue.head++];
    pthread_mutex_unlock(&queue.lock);
    return page;
}

static void report_page(const char *text)
{
    unsigned sum = digest(text);
    pthread_mutex_lock(&queue.lock);
    for (const char *link = text; (link = strstr(link, "href=\"/")) != NULL;)
        push_locked(atoi(link += strlen("href=\"/")));
    queue.checksum += sum;
    if (++queue.fetched == queue.tail)
        pthread_cond_signal(&queue.complete);
    pthread_mutex_unlock(&queue.lock);
}

static void *worker(void *arg)
{
    struct worker *w = arg;
    int page;
    while ((page = next_page()) >= 0) {
        connect_to(w, page);
        read_page(&w->storage, w->text);
        report_page(w->text);
        set_connection(w, NULL);
    }
    return NULL;
}

/* ---- manager ---- */

static void log_break(void)
{
    pthread_mutex_lock(&log_lock);
    broken_off++;
    pthread_mutex_unlock(&log_lock);
}

static void stop_worker(struct worker *w)
{
#ifdef FIXED
    pthread_mutex_lock(&w->lock);
#endif
    if (w->connection != NULL) {
        log_break();
        break_off(w->connection);
    }
#ifdef FIXED
    pthread_mutex_unlock(&w->lock);
#endif
}

static void wait_until_complete(void)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.fetched < queue.tail)
        pthread_cond_wait(&queue.complete, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
}

static void close_queue(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.closed = true;
    pthread_cond_broadcast(&queue.more);
    pthread_mutex_unlock(&queue.lock);
}

static void manage(void)
{
    wait_until_complete();
    for (int i = 0; i < n_workers; i++)
        stop_worker(&workers[i]);
    close_queue();
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i].thread, NULL);
}

static void start_workers(void)
{
    workers = calloc((size_t)n_workers, sizeof *workers);
    for (int i = 0; i < n_workers; i++) {
        workers[i].id = i;
#ifdef FIXED
        pthread_mutex_init(&workers[i].lock, NULL);
#endif
        pthread_create(&workers[i].thread, NULL, worker, &workers[i]);
    }
}

/* Crawls again, alone. */
static int check(void)
{
    char text[PAGE_SIZE + 1];
    unsigned checksum = 0;
    for (int i = 0; i < queue.tail; i++) {
        render(queue.pages[i], text);
        checksum += digest(text);
        for (int j = 0; j < LINKS; j++) {
            if (!queue.known[link_of(queue.pages[i], j)]) {
                printf("FAILED: page %d was not visited\n", link_of(queue.pages[i], j));
                return 1;
            }
        }
    }
    if (checksum != queue.checksum) {
        puts("FAILED: the pages differ from the site's");
        return 1;
    }
    printf("%d pages\nok\n", queue.tail);
    return 0;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t workers] [-n pages]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:h")) != -1) {
        if (c == 't')
            n_workers = atoi(optarg);
        else if (c == 'n')
            n_pages = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_workers < 1 || n_pages < 1)
        return usage(argv[0], 2);

    queue.pages = calloc((size_t)n_pages, sizeof *queue.pages);
    queue.known = calloc((size_t)n_pages, sizeof *queue.known);
    push_locked(0);
    start_workers();
    manage();
    int result = check();
    free(workers);
    free(queue.pages);
    free(queue.known);
    return result;
}
