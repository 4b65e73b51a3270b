#include "trace/import_std.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "detect/run_state.h"
#include "event/site.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS 0x10000000u
enum { BYTES = 8, QUEUE = 4 };

struct dh_std {
    FILE *in;
    const char *name;
    struct dh_meta *meta;
    char *line;
    size_t cap;
    uint64_t number, read, seq;                          /* number of the line */
    struct dh_string_map threads, memory, locks, places; /* numbers of names, in the order of first use */
    DH_VEC(uint8_t) begun;                               /* by thread */
    struct dh_event queue[QUEUE];
    unsigned n_queued, next_queued;
};

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
    /* Blocks that the trace's author meant to be atomic. */
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
    uint32_t place = dh_string_map_number(&s->places, key);
    free(key);
    if (place == s->meta->places.n)
        add_place(s, o, what, location);
    return place;
}

static bool thread_of(struct dh_std *s, const char *name, uint32_t *index, struct dh_err *err)
{
    if (!name[0])
        return expected(s, "the name of a thread", name, err);
    *index = dh_string_map_number(&s->threads, name);
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
    s->queue[s->n_queued++] = e;
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
        e->addr = FIRST_ADDRESS + (uint64_t)dh_string_map_number(&s->memory, what) * BYTES;
        e->arg = BYTES;
    } else if (o->takes == LOCK) {
        e->addr = 1ull << 46 | (uint64_t)dh_string_map_number(&s->locks, what) * BYTES;
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

/* thread|op(what)|location; the last part may be missing. The line is split in place. */
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
    while (s->next_queued == s->n_queued) {
        s->next_queued = s->n_queued = 0;
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
    *e = s->queue[s->next_queued++];
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
    dh_string_map_release(&s->threads);
    dh_string_map_release(&s->memory);
    dh_string_map_release(&s->locks);
    dh_string_map_release(&s->places);
    dh_vec_release(&s->begun);
    free(s->line);
    free(s);
}

bool dh_std_is_one(const char *bytes, size_t n)
{
    const char *end = memchr(bytes, '\n', n), *bar = memchr(bytes, '|', end ? (size_t)(end - bytes) : n);
    return bar && !memchr(bytes, ' ', (size_t)(bar - bytes));
}
