#include "trace/live.h"

#include "base/alloc.h"
#include "base/str.h"
#include "detect/run_state.h"
#include "event/stream.h"
#include "host/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a seq may be missing: its thread drew the number but did not write the event. Events in one poll. */
enum { PATIENCE_MS = 1000, POLL_EVENTS = 1 << 14, DEEPEST = 4 };

struct lane {
    const struct dh_stream_lane *shared;
    uint32_t block;   /* index + 1; 0: none yet */
    uint32_t at;      /* words delivered of it */
    uint32_t scanned; /* words looked at for the next event */
    uint64_t before;  /* words of the blocks before */
    uint32_t thread, ctx;
    bool headed; /* the next event was found, at `scanned` */
    uint64_t seq;
};

struct process {
    const struct dh_live_sink *sink;
    struct dh_stream_header *file;
    void *user;
    struct dh_meta meta;
    uint32_t modules_seen;
    DH_VEC(uint32_t) first_places; /* of the modules, as they were read */
    DH_VEC(uint32_t) contexts;     /* numbers of the process to ours; 0: not met yet */
    DH_VEC(uint32_t) chain;        /* on the way up */
    int pidfd;
    bool over;
    struct lane *lanes;
    uint32_t n_lanes;
    DH_VEC(uint32_t) heads; /* heap of lanes by seq */
    uint64_t next;          /* the seq that is due */
    uint64_t missing_since; /* milliseconds, 0: none is missing */
    uint64_t skipped;
    unsigned delivered; /* in this poll */
    size_t announced;   /* size of the metadata's lists */
    unsigned depth;     /* of lanes that come after others */
    uint32_t last_read; /* blocks, since the process is over */
};

struct dh_live {
    struct dh_live_sink sink;
    char *folder;
    DH_VEC(struct process *) processes;
};

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- the parts of the file; indices are not trusted ---- */

static void *part(const struct process *p, uint64_t offset)
{
    return (char *)p->file + offset;
}

static struct dh_stream_block *block_at(const struct process *p, uint32_t number)
{
    uint32_t n = atomic_load(&p->file->n_blocks);
    n = n < DH_STREAM_BLOCKS ? n : DH_STREAM_BLOCKS;
    return number && number <= n ? (struct dh_stream_block *)part(p, DH_STREAM_BLOCKS_AT) + (number - 1) : NULL;
}

static uint32_t used_of(const struct dh_stream_block *b)
{
    enum { WORDS = sizeof b->words / sizeof *b->words };
    uint32_t n = atomic_load_explicit(&b->used, memory_order_acquire);
    return n < WORDS ? n : WORDS;
}

static void free_block(struct process *p, uint32_t number)
{
    struct dh_stream_block *b = block_at(p, number);
    uint64_t head = atomic_load(&p->file->free_blocks), next;
    do {
        atomic_store(&b->next, (uint32_t)head);
        next = ((head >> 32) + 1) << 32 | number;
    } while (!atomic_compare_exchange_weak(&p->file->free_blocks, &head, next));
    atomic_fetch_add(&p->file->freed, 1);
    if (atomic_load(&p->file->waiting))
        syscall(SYS_futex, &p->file->freed, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* ---- metadata ---- */

static char *copy_text(const char *from, size_t n)
{
    size_t length = strnlen(from, n);
    char *s = dh_xmalloc(length + 1);
    memcpy(s, from, length);
    s[length] = 0;
    return s;
}

/* Lists of the metadata only grow: a library whose places are known now is listed once more. */
static void read_modules(struct process *p)
{
    uint32_t changed = atomic_load(&p->file->modules_changed), n = atomic_load(&p->file->n_modules);
    const struct dh_stream_module *all = part(p, DH_STREAM_MODULES_AT);
    if (changed == p->modules_seen)
        return;
    p->modules_seen = changed;
    for (uint32_t i = 0; i < n && i < DH_STREAM_MODULES; i++) {
        if (i < p->first_places.n && p->first_places.at[i] == all[i].first_place)
            continue;
        struct dh_meta_module m = {.path = copy_text(all[i].path, sizeof all[i].path),
                                   .load = all[i].load,
                                   .low = all[i].low,
                                   .high = all[i].high,
                                   .first_place = all[i].first_place};
        memcpy(m.id, all[i].id, sizeof m.id);
        dh_vec_push(&p->meta.modules, m);
        if (i == p->first_places.n)
            dh_vec_push(&p->first_places, m.first_place);
        p->first_places.at[i] = m.first_place;
    }
}

/* Contexts are numbered anew as they are met, callers first. A context's callers have lower numbers than it; one that
 * was written wrong has none. */
static uint32_t context_of(struct process *p, uint32_t id)
{
    const struct dh_stream_context *all = part(p, DH_STREAM_CONTEXTS_AT);
    p->chain.n = 0;
    for (uint32_t at = id; at && at < DH_STREAM_CONTEXTS && !(at < p->contexts.n && p->contexts.at[at]);) {
        uint32_t parent = all[at].parent;
        dh_vec_push(&p->chain, at);
        at = parent < at ? parent : 0;
    }
    while (p->chain.n) {
        uint32_t at = p->chain.at[--p->chain.n], parent = all[at].parent;
        while (p->contexts.n <= at)
            dh_vec_push(&p->contexts, 0);
        struct dh_meta_context c = {parent < at ? p->contexts.at[parent] : 0, all[at].return_address};
        p->contexts.at[at] = (uint32_t)p->meta.contexts.n;
        dh_vec_push(&p->meta.contexts, c);
    }
    return id < p->contexts.n ? p->contexts.at[id] : 0;
}

static void read_thread(struct process *p, uint32_t index)
{
    const struct dh_stream_thread *all = part(p, DH_STREAM_THREADS_AT);
    while (p->meta.threads.n <= index)
        dh_vec_push(&p->meta.threads, (struct dh_meta_thread){.parent = UINT32_MAX});
    struct dh_meta_thread *t = &p->meta.threads.at[index];
    if (!atomic_load_explicit(&all[index].known, memory_order_acquire))
        return;
    t->parent = all[index].parent;
    t->ctx = context_of(p, all[index].context);
    if (!t->name || strncmp(t->name, all[index].name, sizeof all[index].name) != 0) {
        free(t->name);
        t->name = copy_text(all[index].name, sizeof all[index].name);
    }
}

/* ---- records ---- */

static uint32_t words_of(uint64_t first)
{
    static const uint8_t words[DH_STREAM_RECORDS] = {
        [DH_STREAM_ACCESS] = 2, [DH_STREAM_RUN] = 3,   [DH_STREAM_CONTEXT] = 1, [DH_STREAM_THREAD] = 1,
        [DH_STREAM_EVENT] = 4,  [DH_STREAM_AFTER] = 2, [DH_STREAM_SCOPE] = 2,   [DH_STREAM_COLLISION] = 3,
    };
    unsigned type = first & 15;
    return type < DH_STREAM_RECORDS ? words[type] : 0;
}

static void deliver(struct process *p, const struct lane *l, struct dh_event *e)
{
    size_t size = p->meta.modules.n + p->meta.contexts.n + p->meta.threads.n;
    if (size != p->announced) {
        p->announced = size;
        p->sink->grown(p->user);
    }
    e->thread = l->thread;
    e->ctx = l->ctx;
    p->delivered++;
    p->sink->event(p->user, e);
}

static void deliver_accesses(struct process *p, const struct lane *l, uint64_t first, uint64_t addr, uint32_t count,
                             int32_t stride)
{
    uint64_t size = first >> 8 & DH_STREAM_SIZE_MOST;
    struct dh_event e = {.kind = first & DH_STREAM_WROTE ? DH_EVENT_WRITE : DH_EVENT_READ,
                         .flags = first & DH_STREAM_LIBRARY ? DH_EVENT_BY_LIBRARY : 0,
                         .site = (uint32_t)(first >> 32),
                         .addr = addr,
                         .arg = size};
    if (stride == (int64_t)size) {
        e.arg = size * count;
        count = 1;
    }
    for (; count; count--, addr += (uint64_t)(int64_t)stride) {
        struct dh_event one = e;
        one.addr = addr;
        deliver(p, l, &one);
    }
}

static void deliver_event(struct process *p, const struct lane *l, const uint64_t *w, uint64_t seq)
{
    struct dh_event e = {.kind = (uint8_t)(w[0] >> 8),
                         .flags = (uint8_t)(w[0] >> 16),
                         .site = (uint32_t)(w[0] >> 32),
                         .addr = w[1],
                         .arg = (w[0] & 15) != DH_STREAM_SCOPE ? w[2] : 0,
                         .seq = seq};
    read_modules(p);
    if (e.kind == DH_EVENT_THREAD_CREATE && e.arg < DH_STREAM_THREADS)
        read_thread(p, (uint32_t)e.arg);
    if (e.kind == DH_EVENT_THREAD_BEGIN || e.kind == DH_EVENT_THREAD_END)
        read_thread(p, l->thread);
    if (e.kind != DH_EVENT_NONE && e.kind != DH_EVENT_MARK && e.kind < DH_EVENT_COUNT)
        deliver(p, l, &e);
}

static void deliver_up_to(struct process *p, uint32_t lane, uint64_t words);

static void deliver_record(struct process *p, struct lane *l, const uint64_t *w)
{
    uint32_t value = (uint32_t)(w[0] >> 32);
    switch (w[0] & 15) {
    case DH_STREAM_ACCESS:
        deliver_accesses(p, l, w[0], w[1], 1, 0);
        break;
    case DH_STREAM_RUN:
        deliver_accesses(p, l, w[0], w[1], (uint32_t)w[2], (int32_t)(w[2] >> 32));
        break;
    case DH_STREAM_CONTEXT:
        l->ctx = context_of(p, value);
        break;
    case DH_STREAM_THREAD:
        l->thread = value < DH_RUN_THREADS_MAX ? value : 0;
        read_thread(p, l->thread);
        break;
    case DH_STREAM_AFTER:
        deliver_up_to(p, value, w[1]);
        break;
    case DH_STREAM_SCOPE:
    case DH_STREAM_COLLISION:
        deliver_event(p, l, w, 0);
        break;
    default:
        break;
    }
}

/* Records without an order of their own, up to the lane's next event. */
static void deliver_until(struct process *p, struct lane *l, uint32_t end)
{
    struct dh_stream_block *b = block_at(p, l->block);
    while (b && l->at < end) {
        const uint64_t *w = b->words + l->at;
        uint32_t n = words_of(w[0]);
        if (!n || (w[0] & 15) == DH_STREAM_EVENT || l->at + n > end)
            return;
        l->at += n; /* first: a lane that says it comes after itself finds an end */
        deliver_record(p, l, w);
    }
}

/* Handlers interrupt handlers, but not for ever. */
static void deliver_up_to(struct process *p, uint32_t lane, uint64_t words)
{
    if (lane >= p->n_lanes || p->depth >= DEEPEST)
        return;
    struct lane *l = &p->lanes[lane];
    const struct dh_stream_block *b = block_at(p, l->block);
    if (!b || words <= l->before)
        return;
    uint64_t here = words - l->before;
    uint32_t used = used_of(b);
    p->depth++;
    deliver_until(p, l, here < used ? (uint32_t)here : used);
    l->scanned = l->scanned > l->at ? l->scanned : l->at;
    p->depth--;
}

/* ---- heads: the next event of each lane ---- */

static bool less(const struct process *p, uint32_t a, uint32_t b)
{
    return p->lanes[a].seq < p->lanes[b].seq;
}

static void swap_heads(struct process *p, size_t i, size_t k)
{
    uint32_t t = p->heads.at[i];
    p->heads.at[i] = p->heads.at[k];
    p->heads.at[k] = t;
}

static void push_head(struct process *p, uint32_t lane)
{
    dh_vec_push(&p->heads, lane);
    for (size_t i = p->heads.n - 1; i && less(p, p->heads.at[i], p->heads.at[(i - 1) / 2]); i = (i - 1) / 2)
        swap_heads(p, i, (i - 1) / 2);
}

static uint32_t pop_head(struct process *p)
{
    uint32_t top = p->heads.at[0];
    p->heads.at[0] = p->heads.at[--p->heads.n];
    for (size_t i = 0, child; (child = 2 * i + 1) < p->heads.n; i = child) {
        if (child + 1 < p->heads.n && less(p, p->heads.at[child + 1], p->heads.at[child]))
            child++;
        if (!less(p, p->heads.at[child], p->heads.at[i]))
            break;
        swap_heads(p, i, child);
    }
    return top;
}

/* The block is full and done with: on to the next. */
static bool next_block(struct process *p, struct lane *l)
{
    const struct dh_stream_block *b = block_at(p, l->block);
    uint32_t next = b ? atomic_load_explicit(&b->next, memory_order_acquire)
                      : atomic_load_explicit(&l->shared->first, memory_order_acquire);
    if (!next || !block_at(p, next) || (b && l->at < used_of(b)))
        return false;
    if (p->over && p->last_read++ > DH_STREAM_BLOCKS) /* blocks that follow themselves */
        return false;
    if (b) {
        l->before += l->at;
        free_block(p, l->block);
        atomic_fetch_add(&((struct dh_stream_lane *)l->shared)->read, 1);
    }
    l->block = next;
    l->at = l->scanned = 0;
    return true;
}

static bool find_head(struct process *p, uint32_t lane)
{
    struct lane *l = &p->lanes[lane];
    do {
        const struct dh_stream_block *b = block_at(p, l->block);
        uint32_t used = b ? used_of(b) : 0;
        while (l->scanned < used) {
            const uint64_t *w = b->words + l->scanned;
            uint32_t n = words_of(w[0]);
            if (!n || l->scanned + n > used)
                return false; /* nonsense: the lane has ended */
            if ((w[0] & 15) == DH_STREAM_EVENT) {
                l->headed = true;
                l->seq = w[3];
                push_head(p, lane);
                return true;
            }
            l->scanned += n;
        }
        if (b && l->at < used && atomic_load_explicit(&b->next, memory_order_acquire) && used == used_of(b))
            deliver_until(p, l, used); /* a block without a mark at its end: there was no room for one */
    } while (next_block(p, l));
    return false;
}

static void look_for_heads(struct process *p)
{
    const struct dh_stream_lane *all = part(p, DH_STREAM_LANES_AT);
    uint32_t n = atomic_load(&p->file->n_lanes);
    n = n < DH_STREAM_LANES ? n : DH_STREAM_LANES;
    if (n > p->n_lanes) {
        p->lanes = realloc(p->lanes, n * sizeof *p->lanes);
        if (!p->lanes)
            abort();
        for (; p->n_lanes < n; p->n_lanes++)
            p->lanes[p->n_lanes] = (struct lane){.shared = &all[p->n_lanes]};
    }
    for (uint32_t i = 0; i < p->n_lanes; i++)
        if (!p->lanes[i].headed)
            find_head(p, i);
}

/* ---- the stream ---- */

static void deliver_head(struct process *p)
{
    uint32_t lane = pop_head(p);
    struct lane *l = &p->lanes[lane];
    deliver_until(p, l, l->scanned);
    const uint64_t *w = block_at(p, l->block)->words + l->scanned;
    if (l->seq >= p->next)
        p->next = l->seq + 1;
    else if (p->skipped) /* it was only late */
        p->skipped--;
    deliver_event(p, l, w, l->seq);
    l->scanned += words_of(w[0]);
    l->at = l->scanned;
    l->headed = false;
    find_head(p, lane);
}

static bool is_due(struct process *p)
{
    return p->heads.n && p->lanes[p->heads.at[0]].seq <= p->next;
}

/* The next seq may be missing for good: its thread is dead, or left by a signal handler. */
static bool may_skip(struct process *p)
{
    if (!p->heads.n)
        return false;
    if (!p->over) {
        uint64_t now = now_ms();
        if (!p->missing_since)
            p->missing_since = now;
        if (now - p->missing_since < PATIENCE_MS)
            return false;
    }
    p->skipped += p->lanes[p->heads.at[0]].seq - p->next;
    return true;
}

static bool read_stream(struct process *p)
{
    p->delivered = 0;
    while (p->delivered < POLL_EVENTS) {
        if (!is_due(p))
            look_for_heads(p);
        if (!is_due(p) && !may_skip(p))
            break;
        p->missing_since = 0;
        deliver_head(p);
    }
    return p->delivered;
}

/* Records after the last event of a lane, and runs that were not written yet. */
static void read_tail(struct process *p, uint32_t lane)
{
    struct lane *l = &p->lanes[lane];
    const struct dh_stream_block *b = block_at(p, l->block);
    if (b)
        deliver_until(p, l, used_of(b));
    for (unsigned i = 0; i < 2 * DH_STREAM_RUNS; i++) {
        struct dh_stream_run r = l->shared->runs[i];
        int64_t way = (int64_t)(DH_STREAM_RUN_KEY(r.next, r.place) - r.start);
        if (!r.next || !r.stride || !way || way % r.stride || way / r.stride <= 0 || way / r.stride > INT32_MAX ||
            r.place % DH_STREAM_RUNS != i % DH_STREAM_RUNS || r.stride != (int32_t)r.stride)
            continue;
        uint64_t first = (i >= DH_STREAM_RUNS ? DH_STREAM_WROTE : 0) | (uint64_t)(r.size & DH_STREAM_SIZE_MOST) << 8 |
                         (uint64_t)r.place << 32;
        l->ctx = context_of(p, r.context);
        deliver_accesses(p, l, first, r.start, (uint32_t)(way / r.stride), (int32_t)r.stride);
    }
}

static int by_thread(const void *a, const void *b)
{
    const struct lane *const *x = a, *const *y = b;
    return (*x)->thread<(*y)->thread ? -1 : (*x)->thread>(*y)->thread;
}

static void finish_process(struct process *p)
{
    p->over = true;
    while (read_stream(p))
        ;
    const struct lane **order = dh_xcalloc(p->n_lanes + 1, sizeof *order);
    for (uint32_t i = 0; i < p->n_lanes; i++)
        order[i] = &p->lanes[i];
    qsort(order, p->n_lanes, sizeof *order, by_thread);
    for (uint32_t i = 0; i < p->n_lanes; i++)
        read_tail(p, (uint32_t)(order[i] - p->lanes));
    free(order);
    uint64_t unused = atomic_load(&p->file->unused_numbers);
    p->sink->end(p->user, atomic_load(&p->file->lost) + (p->skipped > unused ? p->skipped - unused : 0));
}

/* ---- processes ---- */

static bool is_ours(const struct dh_stream_header *h)
{
    return memcmp(h->magic, DH_STREAM_MAGIC, sizeof h->magic) == 0 && h->version == DH_STREAM_VERSION &&
           h->endianness == DH_STREAM_ENDIANNESS && h->size == DH_STREAM_FILE;
}

static struct dh_stream_header *map_file(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    void *at = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && (uint64_t)about.st_size == DH_STREAM_FILE)
        at = mmap(NULL, DH_STREAM_FILE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED)
        return NULL;
    if (is_ours(at))
        return at;
    munmap(at, DH_STREAM_FILE);
    return NULL;
}

static char *text_or_null(const char *from, size_t n)
{
    return from[0] ? copy_text(from, n) : NULL;
}

static void add_process(struct dh_live *live, struct dh_stream_header *h)
{
    struct process *p = DH_NEW(struct process);
    p->sink = &live->sink;
    p->file = h;
    p->next = 1;
    p->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)h->pid, 0);
    p->meta.pid = h->pid;
    p->meta.started = h->started;
    p->meta.program = text_or_null(h->program, sizeof h->program);
    p->meta.original = text_or_null(h->original, sizeof h->original);
    p->meta.variant = text_or_null(h->variant, sizeof h->variant);
    dh_vec_push(&p->meta.contexts, (struct dh_meta_context){0});
    read_modules(p);
    for (size_t i = 0; i < live->processes.n; i++) /* the program that executed it has ended */
        if (live->processes.at[i]->meta.pid == h->pid)
            live->processes.at[i]->over = true;
    p->user = live->sink.begin(live->sink.arg, &p->meta);
    dh_vec_push(&live->processes, p);
}

/* Names have the time of creation: a parent comes before its forked child. */
static int by_age(const void *a, const void *b)
{
    const char *names[] = {dh_basename(*(char *const *)a), dh_basename(*(char *const *)b)};
    long long at[2][2] = {{0}};
    for (int i = 0; i < 2; i++)
        sscanf(names[i], "%*d-%lld-%lld", &at[i][0], &at[i][1]);
    for (int k = 0; k < 2; k++)
        if (at[0][k] != at[1][k])
            return at[0][k] < at[1][k] ? -1 : 1;
    return strcmp(names[0], names[1]);
}

/* A file is unlinked as soon as it is found, so that none remains whatever happens to this process. */
static void look_for_processes(struct dh_live *live)
{
    DIR *d = opendir(live->folder);
    if (!d)
        return;
    DH_VEC(char *) found = {0};
    for (struct dirent *e; (e = readdir(d));)
        if (dh_ends_with(e->d_name, DH_STREAM_SUFFIX))
            dh_vec_push(&found, dh_format("%s/%s", live->folder, e->d_name));
    closedir(d);
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, by_age);
    for (size_t i = 0; i < found.n; i++) {
        struct dh_stream_header *h = map_file(found.at[i]);
        unlink(found.at[i]);
        if (h)
            add_process(live, h);
        free(found.at[i]);
    }
    dh_vec_release(&found);
}

static bool has_ended(const struct process *p)
{
    struct pollfd f = {.fd = p->pidfd, .events = POLLIN};
    return p->over || p->pidfd < 0 || poll(&f, 1, 0) > 0;
}

static void release_process(struct process *p)
{
    if (p->pidfd >= 0)
        close(p->pidfd);
    munmap(p->file, DH_STREAM_FILE);
    dh_meta_release(&p->meta);
    free(p->lanes);
    dh_vec_release(&p->heads);
    dh_vec_release(&p->first_places);
    dh_vec_release(&p->contexts);
    dh_vec_release(&p->chain);
    free(p);
}

static void drop_process(struct dh_live *live, size_t i)
{
    struct process *p = live->processes.at[i];
    live->processes.n--;
    memmove(&live->processes.at[i], &live->processes.at[i + 1], (live->processes.n - i) * sizeof p);
    release_process(p);
}

bool dh_live_poll(struct dh_live *live)
{
    bool any = false;
    look_for_processes(live);
    for (size_t i = 0; i < live->processes.n; i++) {
        struct process *p = live->processes.at[i];
        bool ended = has_ended(p); /* first: what it wrote before it ended is read now */
        if (read_stream(p)) {
            any = true;
        } else if (ended) {
            finish_process(p);
            drop_process(live, i--);
            any = true;
        }
    }
    return any;
}

/* ---- folder ---- */

#define MEMORY "/dev/shm"
#define PREFIX "deadheat-"

/* Folders of readers that were killed: what is in them is memory. */
static void sweep(void)
{
    DIR *d = opendir(MEMORY);
    for (struct dirent *e; d && (e = readdir(d));) {
        int pid = dh_starts_with(e->d_name, PREFIX) ? atoi(e->d_name + strlen(PREFIX)) : 0;
        struct stat about;
        if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH)
            continue;
        char *path = dh_format(MEMORY "/%s", e->d_name);
        if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid())
            dh_remove_tree(path);
        free(path);
    }
    if (d)
        closedir(d);
}

static char *make_folder(struct dh_err *err)
{
    sweep();
    char *path = dh_format(MEMORY "/" PREFIX "%d-XXXXXX", (int)getpid());
    if (mkdtemp(path))
        return path;
    free(path);
    return dh_temp_folder(err);
}

struct dh_live *dh_live_open(const struct dh_live_sink *sink, struct dh_err *err)
{
    struct dh_live *l = DH_NEW(struct dh_live);
    l->sink = *sink;
    l->folder = make_folder(err);
    if (l->folder)
        return l;
    free(l);
    return NULL;
}

const char *dh_live_folder(const struct dh_live *l)
{
    return l->folder;
}

void dh_live_close(struct dh_live *live)
{
    if (!live)
        return;
    look_for_processes(live);
    for (size_t i = 0; i < live->processes.n; i++) {
        struct process *p = live->processes.at[i];
        atomic_store(&p->file->closed, 1);
        atomic_fetch_add(&p->file->freed, 1);
        syscall(SYS_futex, &p->file->freed, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        finish_process(p);
        release_process(p);
    }
    dh_vec_release(&live->processes);
    dh_remove_tree(live->folder);
    free(live->folder);
    free(live);
}
