/* A meta crawler that searches several archives at once, after the application kernel hedc of ETH.
 *
 * Principals issue queries; a query becomes one task per archive, here two. Reusable workers take tasks from a queue
 * and crawl the archive (a linked site of pages in memory) for pages with the keyword. As soon as one archive has
 * answered, the principal cancels the other task: if a worker is on it, that worker is interrupted.
 *
 * task->thread is the worker that is on a task. cancel_task reads it twice under the task's lock, but the worker sets
 * it back to NULL at its end without the lock: the second read may find NULL, or the interrupt reach a worker that is
 * already on somebody else's task. */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define ARCHIVES 4
#define KEYWORDS 32
#define WORDS_PER_PAGE 64
#define LINKS_PER_PAGE 4
#define TASKS_PER_QUERY 2

static struct {
    int workers, principals, queries, pages;
    uint64_t seed;
    bool verbose;
} opt = {.workers = 2, .principals = 2, .queries = 20, .pages = 60, .seed = 99};

struct page {
    int links[LINKS_PER_PAGE];
    unsigned char words[WORDS_PER_PAGE];
};

struct archive {
    struct page *pages;
    int n_hits[KEYWORDS]; /* what a sequential crawl found */
    int *hits[KEYWORDS];
};

struct worker {
    pthread_t handle;
    atomic_bool interrupted;
    int *frontier; /* pages still to visit, in order of discovery */
    bool *discovered;
};

/* A principal's query; it runs one after the other. */
struct query {
    int principal;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    int unanswered;
};

struct task {
    pthread_mutex_t lock;
    struct worker *thread; /* who is on it */
    bool cancelled;
    bool answered; /* under the query's lock */
    const struct archive *archive;
    int keyword, n_hits;
    int *hits;
    struct query *query;
    struct task *next;
};

static struct archive archives[ARCHIVES];

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static struct task *queue_head, **queue_tail = &queue_head;
static bool queue_closed;

static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static long n_interrupts;

static unsigned next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static void enqueue(struct task *t)
{
    pthread_mutex_lock(&queue_lock);
    t->next = NULL;
    *queue_tail = t;
    queue_tail = &t->next;
    pthread_cond_signal(&queue_filled);
    pthread_mutex_unlock(&queue_lock);
}

/* NULL when the queue is closed and empty. */
static struct task *dequeue(void)
{
    pthread_mutex_lock(&queue_lock);
    while (!queue_head && !queue_closed)
        pthread_cond_wait(&queue_filled, &queue_lock);
    struct task *t = queue_head;
    if (t && !(queue_head = t->next))
        queue_tail = &queue_head;
    pthread_mutex_unlock(&queue_lock);
    return t;
}

static void close_queue(void)
{
    pthread_mutex_lock(&queue_lock);
    queue_closed = true;
    pthread_cond_broadcast(&queue_filled);
    pthread_mutex_unlock(&queue_lock);
}

static bool mentions(const struct page *p, int keyword)
{
    for (int i = 0; i < WORDS_PER_PAGE; i++)
        if (p->words[i] == keyword)
            return true;
    return false;
}

/* Breadth first from page 0, until the archive is exhausted or the worker interrupted. Returns the number of hits. */
static int crawl(struct worker *self, const struct archive *a, int keyword, int *hits)
{
    int n_found = 1, n_hits = 0;
    memset(self->discovered, 0, (size_t)opt.pages * sizeof *self->discovered);
    self->frontier[0] = 0;
    self->discovered[0] = true;
    for (int at = 0; at < n_found && !self->interrupted; at++) {
        const struct page *p = &a->pages[self->frontier[at]];
        if (mentions(p, keyword))
            hits[n_hits++] = self->frontier[at];
        for (int i = 0; i < LINKS_PER_PAGE; i++)
            if (!self->discovered[p->links[i]]) {
                self->discovered[p->links[i]] = true;
                self->frontier[n_found++] = p->links[i];
            }
    }
    return n_hits;
}

static bool begin_task(struct task *t, struct worker *self)
{
    pthread_mutex_lock(&t->lock);
    bool wanted = !t->cancelled;
    if (wanted) {
        self->interrupted = false;
        t->thread = self;
    }
    pthread_mutex_unlock(&t->lock);
    return wanted;
}

static void answer(struct query *q, struct task *t)
{
    pthread_mutex_lock(&q->lock);
    q->unanswered--;
    t->answered = true;
    pthread_cond_signal(&q->answered);
    pthread_mutex_unlock(&q->lock);
}

static void run_task(struct task *t, struct worker *self)
{
    if (begin_task(t, self)) {
        t->n_hits = crawl(self, t->archive, t->keyword, t->hits);
#ifdef FIXED
        pthread_mutex_lock(&t->lock);
#endif
        t->thread = NULL;
#ifdef FIXED
        pthread_mutex_unlock(&t->lock);
#endif
    }
    answer(t->query, t);
}

static void *worker(void *arg)
{
    struct worker *self = arg;
    for (struct task *t; (t = dequeue()) != NULL;)
        run_task(t, self);
    return NULL;
}

static void count_interrupt(void)
{
    pthread_mutex_lock(&stats_lock);
    n_interrupts++;
    pthread_mutex_unlock(&stats_lock);
}

static void interrupt_worker(struct worker *w)
{
    w->interrupted = true;
}

static void cancel_task(struct task *t)
{
    pthread_mutex_lock(&t->lock);
    t->cancelled = true;
    if (t->thread != NULL) {
        count_interrupt();
        interrupt_worker(t->thread);
    }
    pthread_mutex_unlock(&t->lock);
}

/* Returns the set of tasks that have answered, as bits. */
static unsigned wait_for_one(struct query *q, const struct task *tasks)
{
    unsigned done = 0;
    pthread_mutex_lock(&q->lock);
    while (q->unanswered == TASKS_PER_QUERY)
        pthread_cond_wait(&q->answered, &q->lock);
    for (int i = 0; i < TASKS_PER_QUERY; i++)
        done |= (unsigned)tasks[i].answered << i;
    pthread_mutex_unlock(&q->lock);
    return done;
}

static void wait_for_all(struct query *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->unanswered > 0)
        pthread_cond_wait(&q->answered, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

static void task_init(struct task *t, struct query *q, const struct archive *a, int keyword)
{
    *t = (struct task){.archive = a, .keyword = keyword, .query = q};
    pthread_mutex_init(&t->lock, NULL);
    t->hits = malloc((size_t)opt.pages * sizeof *t->hits);
}

/* Whole answers must equal the sequential crawl's, cancelled ones be the beginning of it. */
static bool task_release(struct task *t)
{
    int all = t->archive->n_hits[t->keyword];
    bool right = t->cancelled ? t->n_hits <= all : t->n_hits == all;
    right = right && memcmp(t->hits, t->archive->hits[t->keyword], (size_t)t->n_hits * sizeof *t->hits) == 0;
    pthread_mutex_destroy(&t->lock);
    free(t->hits);
    return right;
}

/* True when all answers were right. */
static bool run_query(struct query *q, int keyword, int first_archive)
{
    struct task *tasks = calloc(TASKS_PER_QUERY, sizeof *tasks);
    bool right = true;
    q->unanswered = TASKS_PER_QUERY; /* nobody else knows the query yet */
    for (int i = 0; i < TASKS_PER_QUERY; i++)
        task_init(&tasks[i], q, &archives[(first_archive + i) % ARCHIVES], keyword);
    for (int i = 0; i < TASKS_PER_QUERY; i++)
        enqueue(&tasks[i]);
    unsigned done = wait_for_one(q, tasks);
    for (int i = 0; i < TASKS_PER_QUERY; i++)
        if (!(done >> i & 1))
            cancel_task(&tasks[i]);
    wait_for_all(q);
    for (int i = 0; i < TASKS_PER_QUERY; i++)
        right &= task_release(&tasks[i]);
    free(tasks);
    return right;
}

/* Returns the number of queries with a wrong answer. */
static void *principal(void *arg)
{
    struct query *q = arg;
    uint64_t state = opt.seed + (uint64_t)q->principal;
    intptr_t wrong = 0;
    for (int i = 0; i < opt.queries; i++) {
        int keyword = (int)(next_random(&state) % KEYWORDS);
        wrong += !run_query(q, keyword, (int)(next_random(&state) % ARCHIVES));
    }
    return (void *)wrong;
}

static void worker_init(struct worker *w)
{
    w->interrupted = false;
    w->frontier = malloc((size_t)opt.pages * sizeof *w->frontier);
    w->discovered = malloc((size_t)opt.pages * sizeof *w->discovered);
}

static void worker_release(struct worker *w)
{
    free(w->discovered);
    free(w->frontier);
}

static void build_archive(struct archive *a, uint64_t state)
{
    a->pages = calloc((size_t)opt.pages, sizeof *a->pages);
    for (int i = 0; i < opt.pages; i++) {
        struct page *p = &a->pages[i];
        p->links[0] = (i + 1) % opt.pages;
        for (int k = 1; k < LINKS_PER_PAGE; k++)
            p->links[k] = (int)(next_random(&state) % (unsigned)opt.pages);
        for (int k = 0; k < WORDS_PER_PAGE; k++)
            p->words[k] = (unsigned char)next_random(&state);
    }
}

static void build_archives(void)
{
    struct worker alone;
    worker_init(&alone);
    for (int i = 0; i < ARCHIVES; i++) {
        build_archive(&archives[i], opt.seed * ARCHIVES + (uint64_t)i);
        for (int k = 0; k < KEYWORDS; k++) {
            archives[i].hits[k] = malloc((size_t)opt.pages * sizeof *archives[i].hits[k]);
            archives[i].n_hits[k] = crawl(&alone, &archives[i], k, archives[i].hits[k]);
        }
    }
    worker_release(&alone);
}

static void free_archives(void)
{
    for (int i = 0; i < ARCHIVES; i++) {
        free(archives[i].pages);
        for (int k = 0; k < KEYWORDS; k++)
            free(archives[i].hits[k]);
    }
}

/* Returns the number of queries with a wrong answer. */
static long run_principals(struct query *queries)
{
    pthread_t principals[MAX_THREADS];
    long wrong = 0;
    for (int i = 0; i < opt.principals; i++) {
        queries[i].principal = i;
        pthread_mutex_init(&queries[i].lock, NULL);
        pthread_cond_init(&queries[i].answered, NULL);
        pthread_create(&principals[i], NULL, principal, &queries[i]);
    }
    for (int i = 0; i < opt.principals; i++) {
        void *result;
        pthread_join(principals[i], &result);
        wrong += (intptr_t)result;
    }
    return wrong;
}

static long run_crawler(void)
{
    struct worker *workers = calloc((size_t)opt.workers, sizeof *workers);
    for (int i = 0; i < opt.workers; i++) {
        worker_init(&workers[i]);
        pthread_create(&workers[i].handle, NULL, worker, &workers[i]);
    }
    struct query *queries = calloc((size_t)opt.principals, sizeof *queries);
    long wrong = run_principals(queries);
    close_queue();
    for (int i = 0; i < opt.workers; i++) {
        pthread_join(workers[i].handle, NULL);
        worker_release(&workers[i]);
    }
    free(queries);
    free(workers);
    return wrong;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "hedc: '%s' is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static void usage(FILE *to)
{
    fputs("usage: hedc [-t workers] [-p principals] [-n queries per principal] [-k pages per archive] [-s seed] [-v]\n",
          to);
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "t:p:n:k:s:vh")) != -1;) {
        if (c == 't')
            opt.workers = number(optarg, 1, MAX_THREADS);
        else if (c == 'p')
            opt.principals = number(optarg, 1, MAX_THREADS);
        else if (c == 'n')
            opt.queries = number(optarg, 1, 10000000);
        else if (c == 'k')
            opt.pages = number(optarg, 1, 1000000);
        else if (c == 's')
            opt.seed = (uint64_t)number(optarg, 0, INT32_MAX);
        else if (c == 'v')
            opt.verbose = true;
        else {
            usage(c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    build_archives();
    long wrong = run_crawler();
    free_archives();
    if (opt.verbose)
        fprintf(stderr, "%ld workers were interrupted\n", n_interrupts);
    if (wrong)
        printf("FAILED: %ld queries got a wrong answer\n", wrong);
    else
        puts("ok");
    return wrong != 0;
}
