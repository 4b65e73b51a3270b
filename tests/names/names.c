/* Accesses of every kind. What stands after SITE is what check_names.py demands of the sites on that line, in any
 * order, separated by ';': variable|field|op. All accesses of a marked line are listed. Only `globals`
 * runs; `kept` makes the others survive the link. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

struct limits {
    int min, max;
};

struct account {
    long id;
    int balance;
    struct limits limits;
    union {
        int whole;
        float part;
        void *link;
    };
    struct {
        short depth, width;
    };
    unsigned open : 1, kind : 3, level : 12;
    signed int delta : 7;
    char owner[16];
    struct account *next;
    pthread_mutex_t lock;
    double *history;
};

typedef struct {
    int low, high;
} range_t;

union number {
    long l;
    double d;
    char bytes[8];
    struct {
        uint16_t lo, hi;
    } half;
};

struct message {
    int kind;
    union {
        struct {
            int from, to;
        } range;
        struct {
            int first, step;
        } keys;
        unsigned mask;
    } body;
};

struct buffer {
    size_t n;
    struct limits slots[];
};

struct header {
    int length;
};

struct node {
    struct node *next, *prev;
};

struct job {
    int number;
    struct node link;
};

int counter;
static int hidden_total;
volatile int stop;
_Atomic int hits;
atomic_long big_hits;
_Thread_local int depth_of_this_thread;
int *shared_pointer;
struct account head, *accounts, *by_kind[8];
struct {
    struct limits limits;
    int on;
} config;
struct limits table[10], grid[4][5];
range_t window;
int plane[3][4];
union number number;
pthread_cond_t changed;
pthread_rwlock_t guard;
pthread_barrier_t gate;
sem_t tokens;
mtx_t plain;
void (*callback)(int);
__int128 wide;
long double precise;
typedef float quad __attribute__((vector_size(16)));
quad colour;

int globals(int i)
{
    counter++;                   // SITE: counter||read; counter||write
    hidden_total = i;            // SITE: hidden_total||write
    stop = 1;                    // SITE: stop||write
    depth_of_this_thread = i;    // SITE: depth_of_this_thread||write
    head.balance = i;            // SITE: head.balance|balance|write
    head.limits.max = i;         // SITE: head.limits.max|limits.max|write
    config.limits.min = i;       // SITE: config.limits.min|limits.min|write
    config.on = 1;               // SITE: config.on|on|write
    table[i].min = 1;            // SITE: table[].min|min|write
    table[3].max = 1;            // SITE: table[].max|max|write
    grid[i][2].max = 1;          // SITE: grid[][].max|max|write
    plane[1][i] = 2;             // SITE: plane[][]||write
    window.high = i;             // SITE: window.high|high|write
    head.owner[i] = 'x';         // SITE: head.owner[]|owner[]|write
    wide = i;                    // SITE: wide||write
    precise = i;                 // SITE: precise||write
    colour = (quad){1, 2, 3, 4}; // SITE: colour||write
    static int calls;
    return calls++; // SITE: calls||read; calls||write
}

int pointers(struct account *a, int *p, range_t *r, void *arg, int **pp, int n)
{
    struct account *b = arg;
    a->balance = n;                  // SITE: struct account.balance|balance|write
    b->limits.min = n;               // SITE: struct account.limits.min|limits.min|write
    ((struct account *)arg)->id = 1; // SITE: struct account.id|id|write
    a->next->balance = 2;            // SITE: struct account.next|next|read; struct account.balance|balance|write
    a[n].id = 3;                     // SITE: struct account.id|id|write
    r->low = 4;                      // SITE: range_t.low|low|write
    *p = 5;                          // SITE: *p||write
    p[n] = 6;                        // SITE: p[]||write
    p[0] = 7;                        // SITE: p[]||write
    int *q = p;
    *q = 8;                 // SITE: *q||write
    *p = 9;                 // SITE: *p||write
    **pp = 10;              // SITE: *pp||read; **pp||write
    pp[1][2] = 11;          // SITE: pp[]||read; pp[][]||write
    *shared_pointer = 12;   // SITE: shared_pointer||read; *shared_pointer||write
    a->history[n] = 1.5;    // SITE: struct account.history|history|read; struct account.history[]|history[]|write
    a->owner[n] = 'y';      // SITE: struct account.owner[]|owner[]|write
    accounts->balance = 13; // SITE: accounts||read; struct account.balance|balance|write
    by_kind[n]->id = 14;    // SITE: by_kind[]||read; struct account.id|id|write
    a->depth = 15;          // SITE: struct account.depth|depth|write
    p++;
    *p = 16;                     // SITE: *p||write
    errno = 0;                   // SITE: errno||write
    return (n ? a : b)->balance; // SITE: struct account.balance|balance|read
}

int overlays(struct account *a, union number *u, struct message *m)
{
    a->whole = 1;              // SITE: struct account.whole|whole|write
    a->part = 2.0f;            // SITE: struct account.part|part|write
    a->link = a;               // SITE: struct account.link|link|write
    u->d = 1.0;                // SITE: union number.d|d|write
    u->l = 2;                  // SITE: union number.l|l|write
    u->bytes[3] = 3;           // SITE: union number.bytes[]|bytes[]|write
    u->half.hi = 4;            // SITE: union number.half.hi|half.hi|write
    number.d = 5.0;            // SITE: number.d|d|write
    m->body.keys.step = 6;     // SITE: struct message.body.keys.step|body.keys.step|write
    m->body.range.to = 7;      // SITE: struct message.body.range.to|body.range.to|write
    m->body.mask = 8;          // SITE: struct message.body.mask|body.mask|write
    return m->body.keys.first; // SITE: struct message.body.keys.first|body.keys.first|read
}

int bits(struct account *a)
{
    a->open = 1;           // SITE: struct account.open|open|read; struct account.open|open|write
    a->kind = 5;           // SITE: struct account.kind|kind|read; struct account.kind|kind|write
    a->delta = -1;         // SITE: struct account.delta|delta|read; struct account.delta|delta|write
    head.level = 9;        // SITE: head.level|level|read; head.level|level|write
    int sum = a->open;     // SITE: struct account.open|open|read
    sum += a->kind;        // SITE: struct account.kind|kind|read
    sum += a->level;       // SITE: struct account.level|level|read
    return sum + a->delta; // SITE: struct account.delta|delta|read
}

void walk(struct account *first, struct buffer *b, char *raw, int n)
{
    for (struct account *a = first; a; a = a->next) // SITE: struct account.next|next|read
        a->balance = 0;                             // SITE: struct account.balance|balance|write
    b->slots[n].max = 1;                            // SITE: struct buffer.slots[].max|slots[].max|write
    ((struct header *)raw)->length = 2;             // SITE: struct header.length|length|write
    for (int *s = plane[0]; s < plane[1]; s++)
        *s = 3;   // SITE: *s||write
    *raw++ = 'a'; // SITE: *raw||write
    *raw = 'b';   // SITE: *raw||write
}

struct job *container(struct node *l)
{
    struct job *j = (struct job *)((char *)l - offsetof(struct job, link));
    j->number = 1; // SITE: struct job.number|number|write
    l->prev = 0;   // SITE: struct node.prev|prev|write
    return j;
}

void escaping(void (*use)(int *, struct limits *))
{
    int local = 1; // SITE: local||write
    struct limits both;
    both.max = 2; // SITE: both.max|max|write
    use(&local, &both);
    both.min = local; // SITE: local||read; both.min|min|write
}

void copies(struct account *a, struct account *b, size_t n)
{
    *a = *b;                           // SITE: struct account||copy
    a->limits = b->limits;             // SITE: struct account.limits|limits|copy
    memset(a->owner, 0, n);            // SITE: struct account.owner|owner|set
    memcpy(table, grid, sizeof table); // SITE: table||copy
    memmove(a->history, b, n); // SITE: struct account.history|history|read; *struct account.history|*history|move
}

void atomics(atomic_int *p, int expected)
{
    atomic_fetch_add(&hits, 1);                                // SITE: hits||atomic rmw
    atomic_store_explicit(&big_hits, 2, memory_order_release); // SITE: big_hits||atomic store
    expected += atomic_load(p);                                // SITE: *p||atomic load
    __atomic_store_n(&counter, 3, __ATOMIC_RELAXED);           // SITE: counter||atomic store
    __sync_bool_compare_and_swap(&head.balance, 1, 2);         // SITE: head.balance|balance|atomic compare-exchange
    __atomic_thread_fence(__ATOMIC_SEQ_CST);                   // SITE: ||fence
    hits++;                                                    // SITE: hits||atomic rmw
    __asm__ volatile("" ::: "memory");                         // SITE: ||inline assembly
}

void *body(void *arg)
{
    return arg;
}

void library(struct account *a, pthread_t *t)
{
    a->history = malloc(80);               // SITE: ||alloc; struct account.history|history|write
    pthread_mutex_lock(&a->lock);          // SITE: struct account.lock|lock|lock
    pthread_mutex_unlock(&head.lock);      // SITE: head.lock|lock|unlock
    pthread_rwlock_rdlock(&guard);         // SITE: guard||read-lock
    pthread_cond_wait(&changed, &a->lock); // SITE: changed||wait
    pthread_barrier_wait(&gate);           // SITE: gate||barrier wait
    sem_post(&tokens);                     // SITE: tokens||semaphore post
    mtx_lock(&plain);                      // SITE: plain||lock
    pthread_create(t, 0, body, 0);         // SITE: *t||thread create
    pthread_create(&t[1], 0, body, 0);     // SITE: t[]||thread create
    pthread_join(*t, 0);                   // SITE: *t||read; *t||thread join
    free(a->history); // SITE: struct account.history|history|read; *struct account.history|*history|free
    callback(1);      // SITE: callback||read
}

void *volatile kept[] = {pointers, overlays, bits, walk, container, escaping, copies, atomics, library};

int main(void)
{
    return kept[globals(1)] == 0;
}
