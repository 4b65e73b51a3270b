#include "trace/import_std.h"

#include "base/alloc.h"
#include "base/str.h"
#include "detect/run_state.h"
#include "event/site.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS 0x10000000u
enum { BYTES = 8, WAITING = 4 };

/* Names to numbers, in the order of their first use. */
struct numbering {
    DH_VEC(char *) names;
    uint32_t *index; /* number + 1; 0: free */
    size_t cap;
};

struct dh_std {
    FILE *in;
    const char *name;
    struct dh_meta *meta;
    char *line;
    size_t cap;
    uint64_t number, read, seq; /* number of the line */
    struct numbering threads, memory, locks, places;
    DH_VEC(uint8_t) begun; /* by thread */
    struct dh_event waiting[WAITING];
    unsigned n_waiting, next_waiting;
};

/* ---- names ---- */

static uint64_t hash(const char *text)
{
    uint64_t h = 14695981039346656037u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h ^ h >> 31;
}

static void index_name(struct numbering *n, uint32_t number)
{
    size_t i = hash(n->names.at[number]) & (n->cap - 1);
    while (n->index[i])
        i = (i + 1) & (n->cap - 1);
    n->index[i] = number + 1;
}

static uint32_t number_of(struct numbering *n, const char *text)
{
    for (size_t i = hash(text); n->cap && n->index[i & (n->cap - 1)]; i++) {
        uint32_t number = n->index[i & (n->cap - 1)] - 1;
        if (strcmp(n->names.at[number], text) == 0)
            return number;
    }
    dh_vec_push(&n->names, dh_strdup(text));
    if (n->names.n * 2 >= n->cap) {
        free(n->index);
        n->cap = n->cap ? 2 * n->cap : 256;
        n->index = dh_xcalloc(n->cap, sizeof *n->index);
        for (uint32_t i = 0; i + 1 < n->names.n; i++)
            index_name(n, i);
    }
    index_name(n, (uint32_t)n->names.n - 1);
    return (uint32_t)n->names.n - 1;
}

static void release_numbering(struct numbering *n)
{
    for (size_t i = 0; i < n->names.n; i++)
        free(n->names.at[i]);
    dh_vec_release(&n->names);
    free(n->index);
}

/* ---- operations ---- */

enum takes { NOTHING, MEMORY, LOCK, THREAD };

static const struct operation {
    const char *name;
    uint8_t kind, op, takes;
} operations[] = {
    {"r", DH_EVENT_READ, DH_OP_READ, MEMORY},
    {"w", DH_EVENT_WRITE, DH_OP_WRITE, MEMORY},
    {"acq", DH_EVENT_LOCK, DH_OP_LOCK, LOCK},
    {"rel", DH_EVENT_UNLOCK, DH_OP_UNLOCK, LOCK},
    {"fork", DH_EVENT_THREAD_CREATE, DH_OP_THREAD_CREATE, THREAD},
    {"join", DH_EVENT_THREAD_JOIN, DH_OP_THREAD_JOIN, THREAD},
    /* What the trace's maker meant to be atomic. */
    {"begin", DH_EVENT_ENTER, DH_OP_NONE, NOTHING},
    {"end", DH_EVENT_LEAVE, DH_OP_NONE, NOTHING},
};

static bool expected(const struct dh_std *s, const char *what, const char *got, struct dh_err *err)
{
    char shown[48];
    size_t i = 0;
    for (; got[i] && i < sizeof shown - 1; i++)
        shown[i] = isprint((unsigned char)got[i]) ? got[i] : '?';
    shown[i] = 0;
    return dh_err_set(err, "%s:%llu: expected %s, not '%s'", s->name, (unsigned long long)s->number, what, shown);
}

static const struct operation *find_operation(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

/* "Foo.java:12" is a line of a file; anything else a location that only has a name, or a number. */
static void add_place(struct dh_std *s, const struct operation *o, const char *what, const char *location)
{
    const char *colon = strrchr(location, ':'), *digits = colon ? colon + 1 : location;
    bool numbered = digits[0] && digits[strspn(digits, "0123456789")] == 0 && strlen(digits) < 10;
    struct dh_meta_place p = {.op = o->op, .line = numbered ? (uint32_t)strtoul(digits, NULL, 10) : 0};
    if (colon && numbered)
        p.file = dh_format("%.*s", (int)(colon - location), location);
    else
        p.file = dh_strdup(numbered ? "location" : location);
    p.function = dh_strdup(o->takes == NOTHING ? location : "");
    p.variable = dh_strdup(what);
    dh_vec_push(&s->meta->places, p);
}

static uint32_t place_of(struct dh_std *s, const struct operation *o, const char *what, const char *location)
{
    char *key = dh_format("%s|%s|%s", o->name, location, what);
    uint32_t place = number_of(&s->places, key);
    free(key);
    if (place == s->meta->places.n)
        add_place(s, o, what, location);
    return place;
}

static bool thread_of(struct dh_std *s, const char *name, uint32_t *index, struct dh_err *err)
{
    if (!name[0])
        return expected(s, "the name of a thread", name, err);
    *index = number_of(&s->threads, name);
    if (*index >= DH_RUN_THREADS_MAX)
        return expected(s, "at most 1048576 threads", name, err);
    while (s->meta->threads.n <= *index) {
        struct dh_meta_thread t = {.parent = UINT32_MAX, .name = dh_strdup(name)};
        dh_vec_push(&s->meta->threads, t);
        dh_vec_push(&s->begun, s->meta->threads.n == 1); /* the first is the main one */
    }
    return true;
}

/* ---- events ---- */

static void emit(struct dh_std *s, struct dh_event e)
{
    bool access = dh_event_info(e.kind)->group & (DH_EVENTS_ACCESS | DH_EVENTS_SCOPE);
    e.seq = access ? 0 : ++s->seq;
    s->waiting[s->n_waiting++] = e;
}

static void begin_thread(struct dh_std *s, uint32_t thread)
{
    uint32_t parent = s->meta->threads.at[thread].parent;
    if (s->begun.at[thread])
        return;
    s->begun.at[thread] = true;
    emit(s, (struct dh_event){.kind = DH_EVENT_THREAD_BEGIN,
                              .thread = thread,
                              .site = DH_NO_PLACE,
                              .arg = parent == UINT32_MAX ? 0 : parent});
}

static bool fill(struct dh_std *s, const struct operation *o, const char *what, struct dh_event *e, struct dh_err *err)
{
    uint32_t other;
    if (o->takes != NOTHING && !what[0])
        return expected(s, o->takes == THREAD ? "the name of a thread in ( )" : "a name in ( )", what, err);
    if (o->takes == MEMORY) {
        e->addr = FIRST_ADDRESS + (uint64_t)number_of(&s->memory, what) * BYTES;
        e->arg = BYTES;
    } else if (o->takes == LOCK) {
        e->addr = 1ull << 46 | (uint64_t)number_of(&s->locks, what) * BYTES;
    } else if (o->takes == THREAD) {
        if (!thread_of(s, what, &other, err))
            return false;
        e->arg = other;
        if (o->kind == DH_EVENT_THREAD_CREATE)
            s->meta->threads.at[other].parent = e->thread;
        else
            emit(s, (struct dh_event){.kind = DH_EVENT_THREAD_END, .thread = other, .site = DH_NO_PLACE});
    }
    return true;
}

/* thread|op(what)|location; the last part may be missing. The line is taken apart in place. */
static bool read_line(struct dh_std *s, char *line, struct dh_err *err)
{
    char *op = strchr(line, '|'), *what = "", *location = "";
    struct dh_event e = {0};
    if (!op)
        return expected(s, "THREAD|OPERATION(WHAT)|LOCATION", line, err);
    *op++ = 0;
    char *bar = strrchr(op, '|'), *open = strchr(op, '(');
    if (bar) {
        *bar = 0;
        location = bar + 1;
    }
    if (open) {
        char *close = strrchr(open, ')');
        if (!close || close[1])
            return expected(s, "')' after the operation", op, err);
        *open = *close = 0;
        what = open + 1;
    }
    const struct operation *o = find_operation(op);
    if (!o)
        return expected(s, "an operation: r, w, acq, rel, fork, join, begin or end", op, err);
    if (!thread_of(s, line, &e.thread, err))
        return false;
    begin_thread(s, e.thread);
    e.kind = o->kind;
    if (!fill(s, o, what, &e, err))
        return false;
    e.site = place_of(s, o, what, location);
    emit(s, e);
    return true;
}

struct dh_std *dh_std_new(FILE *in, const char *name, struct dh_meta *meta)
{
    struct dh_std *s = DH_NEW(struct dh_std);
    s->in = in;
    s->name = name;
    s->meta = meta;
    return s;
}

enum dh_std_answer dh_std_next(struct dh_std *s, struct dh_event *e, struct dh_err *err)
{
    while (s->next_waiting == s->n_waiting) {
        s->next_waiting = s->n_waiting = 0;
        ssize_t n = getline(&s->line, &s->cap, s->in);
        if (n < 0)
            return DH_STD_END;
        s->read += (uint64_t)n;
        s->number++;
        while (n && isspace((unsigned char)s->line[n - 1]))
            s->line[--n] = 0;
        if (n && s->line[0] != '#' && !read_line(s, s->line, err))
            return DH_STD_ERROR;
    }
    *e = s->waiting[s->next_waiting++];
    return DH_STD_EVENT;
}

uint64_t dh_std_progress(const struct dh_std *s)
{
    return s->read;
}

void dh_std_free(struct dh_std *s)
{
    if (!s)
        return;
    release_numbering(&s->threads);
    release_numbering(&s->memory);
    release_numbering(&s->locks);
    release_numbering(&s->places);
    dh_vec_release(&s->begun);
    free(s->line);
    free(s);
}

bool dh_std_is_one(const char *bytes, size_t n)
{
    const char *end = memchr(bytes, '\n', n), *bar = memchr(bytes, '|', end ? (size_t)(end - bytes) : n);
    return bar && !memchr(bytes, ' ', (size_t)(bar - bytes));
}
