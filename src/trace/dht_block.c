#include "trace/dht_block.h"
#include "base/alloc.h"

#include "detect/run_state.h"

#include <stdlib.h>
#include <string.h>

void dh_varint_add(struct dh_str *out, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    dh_str_add_n(out, bytes, n);
}

uint64_t dh_varint_next(struct dh_varints *v)
{
    uint64_t value = 0;
    for (unsigned shift = 0; v->at < v->end && shift < 64; shift += 7) {
        uint8_t byte = *v->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return value;
    }
    v->bad = true;
    return 0;
}

static uint64_t zigzag(uint64_t delta)
{
    return delta << 1 ^ (uint64_t)((int64_t)delta >> 63);
}

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ -(value & 1);
}

/* ---- prediction ---- */

enum { THREADS = 1 << 10, PLACES = 1 << 14, FOLLOWERS = 1 << 14 };

/* How an address is encoded. */
enum address_mode {
    BY_STRIDE,         /* as far from the place's last one as that was from the one before */
    BY_OFFSET,         /* as far from the thread's last access as the last time */
    FROM_PLACE,        /* the distance from the place's last one follows */
    FROM_THREAD,       /* the distance from the thread's last access follows */
    ADDRESS_MODES = 3, /* bits for it in the mask */
};

enum mask { SITE = 1 << 2, ARG = 1 << 3, CTX = 1 << 4, KIND = 1 << 5, SEQ = 1 << 6 };

struct thread {
    uint32_t site, site_before;
    uint64_t addr;
};

/* The last event at a place. */
struct place {
    uint64_t addr, stride, offset, arg;
    uint32_t ctx;
    uint8_t kind, flags;
};

/* Entries are found by hash and may be shared by several: then they predict badly, and nothing else. */
struct predictor {
    struct thread threads[THREADS];
    struct place places[PLACES];
    uint32_t followers[FOLLOWERS]; /* the site after two others */
    uint64_t seq;
};

/* Part of the format: must not change. */
static uint32_t hash(uint64_t a, uint64_t b)
{
    return (uint32_t)(((a * 0x9e3779b97f4a7c15u) ^ b) * 0xd6e8feb86659fd93u >> 40);
}

static struct thread *thread_of(struct predictor *p, uint32_t thread)
{
    return &p->threads[thread & (THREADS - 1)];
}

static uint32_t *follower_of(struct predictor *p, const struct thread *t)
{
    return &p->followers[hash(t->site, t->site_before) & (FOLLOWERS - 1)];
}

/* Events without a place are distinguished by what the thread did before. */
static struct place *place_of(struct predictor *p, uint32_t thread, uint32_t site, const struct thread *t)
{
    uint64_t key = site == DH_NO_PLACE ? (uint64_t)t->site << 32 | t->site_before : site;
    return &p->places[hash(key, thread) & (PLACES - 1)];
}

static bool has_seq(unsigned kind)
{
    return !(dh_event_info(kind)->group & (DH_EVENTS_ACCESS | DH_EVENTS_SCOPE | DH_EVENTS_COLLISION));
}

static uint64_t expected_seq(const struct predictor *p, unsigned kind)
{
    return has_seq(kind) ? p->seq + 1 : 0;
}

static void learn(struct predictor *p, struct thread *t, struct place *place, const struct dh_event *e)
{
    *follower_of(p, t) = e->site;
    t->site_before = t->site;
    t->site = e->site;
    place->stride = e->addr - place->addr;
    place->offset = e->addr - t->addr;
    place->addr = t->addr = e->addr;
    place->arg = e->arg;
    place->ctx = e->ctx;
    place->kind = e->kind;
    place->flags = e->flags;
    if (e->seq)
        p->seq = e->seq;
}

static void forget(struct predictor *p)
{
    memset(p, 0, sizeof *p);
    p->seq = 0;
}

/* ---- columns ---- */

enum column { RUNS, MASKS, SITES, ADDRS, ARGS, CTXS, KINDS, SEQS, COLUMNS };

struct dh_block_writer {
    struct predictor predictor;
    struct dh_str columns[COLUMNS];
    size_t n, run; /* events of the block; of the thread that is at it */
    uint32_t thread;
};

struct dh_block_writer *dh_block_writer_new(void)
{
    return dh_xcalloc(1, sizeof(struct dh_block_writer));
}

void dh_block_writer_free(struct dh_block_writer *w)
{
    if (!w)
        return;
    for (unsigned i = 0; i < COLUMNS; i++)
        dh_str_release(&w->columns[i]);
    free(w);
}

static void end_run(struct dh_block_writer *w)
{
    if (!w->run)
        return;
    dh_varint_add(&w->columns[RUNS], w->thread);
    dh_varint_add(&w->columns[RUNS], w->run);
    w->run = 0;
}

static unsigned add_address(struct dh_block_writer *w, const struct thread *t, const struct place *p, uint64_t addr)
{
    if (addr == p->addr + p->stride)
        return BY_STRIDE;
    if (addr == t->addr + p->offset)
        return BY_OFFSET;
    uint64_t by_place = zigzag(addr - p->addr), by_thread = zigzag(addr - t->addr);
    dh_varint_add(&w->columns[ADDRS], by_place <= by_thread ? by_place : by_thread);
    return by_place <= by_thread ? FROM_PLACE : FROM_THREAD;
}

/* What follows when it is not as predicted. */
static unsigned add_number(struct dh_block_writer *w, enum column column, unsigned bit, uint64_t value,
                           uint64_t predicted)
{
    if (value == predicted)
        return 0;
    dh_varint_add(&w->columns[column], zigzag(value - predicted));
    return bit;
}

void dh_block_add(struct dh_block_writer *w, const struct dh_event *e)
{
    struct predictor *p = &w->predictor;
    struct thread *t = thread_of(p, e->thread);
    if (w->run && e->thread != w->thread)
        end_run(w);
    w->thread = e->thread;
    w->run++;
    w->n++;
    struct place *place = place_of(p, e->thread, e->site, t);
    unsigned mask = add_number(w, SITES, SITE, e->site, *follower_of(p, t));
    mask |= add_address(w, t, place, e->addr);
    mask |= add_number(w, ARGS, ARG, e->arg, place->arg);
    mask |= add_number(w, CTXS, CTX, e->ctx, place->ctx);
    mask |= add_number(w, KINDS, KIND, e->kind | (unsigned)e->flags << 8, place->kind | (unsigned)place->flags << 8);
    mask |= add_number(w, SEQS, SEQ, e->seq, expected_seq(p, e->kind));
    char byte = (char)mask;
    dh_str_add_n(&w->columns[MASKS], &byte, 1);
    learn(p, t, place, e);
}

size_t dh_block_count(const struct dh_block_writer *w)
{
    return w->n;
}

void dh_block_finish(struct dh_block_writer *w, struct dh_str *out)
{
    end_run(w);
    for (unsigned i = 0; i < COLUMNS; i++)
        dh_varint_add(out, w->columns[i].n);
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (w->columns[i].n)
            dh_str_add_n(out, w->columns[i].at, w->columns[i].n);
        dh_str_clear(&w->columns[i]);
    }
    forget(&w->predictor);
    w->n = 0;
}

/* ---- reading ---- */

struct dh_block_reader {
    struct predictor predictor;
    struct dh_varints columns[COLUMNS];
    size_t left;
    uint64_t run;
    uint32_t thread;
    bool bad;
};

struct dh_block_reader *dh_block_reader_new(void)
{
    return dh_xcalloc(1, sizeof(struct dh_block_reader));
}

void dh_block_reader_free(struct dh_block_reader *r)
{
    free(r);
}

bool dh_block_begin(struct dh_block_reader *r, const void *bytes, size_t n, size_t events)
{
    struct dh_varints sizes = {.at = bytes, .end = (const uint8_t *)bytes + n};
    uint64_t size[COLUMNS];
    forget(&r->predictor);
    r->left = events;
    r->run = 0;
    for (unsigned i = 0; i < COLUMNS; i++)
        size[i] = dh_varint_next(&sizes);
    const uint8_t *at = sizes.at;
    bool ok = !sizes.bad;
    for (unsigned i = 0; ok && i < COLUMNS; i++) {
        ok = size[i] <= (size_t)(sizes.end - at);
        if (ok)
            r->columns[i] = (struct dh_varints){.at = at, .end = at + size[i]};
        at += ok ? size[i] : 0;
    }
    r->bad = !(ok && at == sizes.end && size[MASKS] == events);
    return !r->bad;
}

static bool next_run(struct dh_block_reader *r)
{
    uint64_t thread = dh_varint_next(&r->columns[RUNS]);
    r->run = dh_varint_next(&r->columns[RUNS]);
    r->thread = (uint32_t)thread;
    return !r->columns[RUNS].bad && thread < DH_RUN_THREADS_MAX && r->run;
}

static uint64_t number(struct dh_block_reader *r, enum column column, bool follows, uint64_t predicted)
{
    return predicted + (follows ? unzigzag(dh_varint_next(&r->columns[column])) : 0);
}

static uint64_t address(struct dh_block_reader *r, unsigned mode, const struct thread *t, const struct place *p)
{
    if (mode == BY_STRIDE)
        return p->addr + p->stride;
    if (mode == BY_OFFSET)
        return t->addr + p->offset;
    return number(r, ADDRS, true, mode == FROM_PLACE ? p->addr : t->addr);
}

static bool columns_are_bad(const struct dh_block_reader *r)
{
    bool bad = false;
    for (unsigned i = 0; i < COLUMNS; i++)
        bad |= r->columns[i].bad;
    return bad;
}

static bool read_event(struct dh_block_reader *r, struct dh_event *e)
{
    struct predictor *p = &r->predictor;
    struct thread *t = thread_of(p, r->thread);
    unsigned mask = *r->columns[MASKS].at++;
    uint64_t site = number(r, SITES, mask & SITE, *follower_of(p, t));
    struct place *place = place_of(p, r->thread, (uint32_t)site, t);
    uint64_t addr = address(r, mask & ADDRESS_MODES, t, place);
    uint64_t arg = number(r, ARGS, mask & ARG, place->arg), ctx = number(r, CTXS, mask & CTX, place->ctx);
    uint64_t kind = number(r, KINDS, mask & KIND, place->kind | (unsigned)place->flags << 8);
    if (site > UINT32_MAX || ctx > UINT32_MAX || kind > UINT16_MAX || (kind & 0xFF) >= DH_EVENT_COUNT)
        return false;
    *e = (struct dh_event){.kind = kind & 0xFF,
                           .flags = (uint8_t)(kind >> 8),
                           .thread = r->thread,
                           .site = (uint32_t)site,
                           .ctx = (uint32_t)ctx,
                           .addr = addr,
                           .arg = arg};
    e->seq = number(r, SEQS, mask & SEQ, expected_seq(p, e->kind));
    learn(p, t, place, e);
    return true;
}

bool dh_block_next(struct dh_block_reader *r, struct dh_event *e)
{
    if (!r->left || r->bad)
        return false;
    r->bad = (!r->run && !next_run(r)) || !read_event(r, e) || columns_are_bad(r);
    if (r->bad)
        return false;
    r->run--;
    r->left--;
    return true;
}

bool dh_block_is_bad(const struct dh_block_reader *r)
{
    return r->bad;
}
