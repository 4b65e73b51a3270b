#include "prove/prefix.h"

#include "base/vec.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

enum { LOCKS = 16, ACCESSES_MOST = 4000 };

/* ---- locks that were held ---- */

struct locks {
    unsigned n;
    uint64_t at[LOCKS];
};

static void take(struct locks *l, uint64_t lock)
{
    if (l->n < LOCKS)
        l->at[l->n++] = lock;
}

static void let_go(struct locks *l, uint64_t lock)
{
    for (unsigned i = l->n; i-- > 0;)
        if (l->at[i] == lock) {
            l->at[i] = l->at[--l->n];
            return;
        }
}

static bool has(const struct locks *l, uint64_t lock)
{
    for (unsigned i = 0; i < l->n; i++)
        if (l->at[i] == lock)
            return true;
    return false;
}

static bool meet(const struct locks *a, const struct locks *b)
{
    for (unsigned i = 0; i < a->n; i++)
        if (has(b, a->at[i]))
            return true;
    return false;
}

static void follow_locks(struct locks *l, const struct dh_engine_decision *d)
{
    if (d->kind == DH_STEP_LOCK && !(d->flags & DH_STEP_SHARED))
        take(l, d->object);
    else if (d->kind == DH_STEP_UNLOCK)
        let_go(l, d->object);
}

/* ---- pairs ---- */

struct access {
    uint32_t at; /* decision */
    struct locks locks;
};

struct pairs {
    const struct dh_prefix_from *from;
    DH_VEC(struct access) accesses;
    uint32_t threads;
};

static bool is_access(const struct dh_engine_decision *d)
{
    return d->kind == DH_STEP_READ || d->kind == DH_STEP_WRITE || d->kind == DH_STEP_RMW || d->kind == DH_STEP_FREE;
}

static bool is_wanted(const struct pairs *p, const struct dh_engine_decision *d)
{
    return is_access(d) && d->place < p->from->places && p->from->wanted[d->place];
}

static bool overlap(const struct pairs *p, const struct dh_engine_decision *a, const struct dh_engine_decision *b)
{
    uint32_t na = p->from->bytes_of(p->from->arg, a->place), nb = p->from->bytes_of(p->from->arg, b->place);
    na = na ? na : 1;
    nb = nb ? nb : 1;
    return a->object < b->object + nb && b->object < a->object + na;
}

static bool conflict(const struct pairs *p, const struct dh_engine_decision *a, const struct dh_engine_decision *b)
{
    bool writes = a->kind != DH_STEP_READ || b->kind != DH_STEP_READ;
    bool atomic = (a->flags & DH_STEP_ATOMIC) && (b->flags & DH_STEP_ATOMIC);
    return a->thread != b->thread && writes && !atomic && overlap(p, a, b);
}

/* The last ones count: what is early can be had from another schedule. */
static void gather(struct pairs *p)
{
    const struct dh_prefix_from *f = p->from;
    for (uint32_t i = 0; i < f->n; i++)
        p->threads = f->decisions[i].thread >= p->threads ? f->decisions[i].thread + 1 : p->threads;
    struct locks *held = calloc(p->threads + 1, sizeof *held);
    if (!held)
        abort();
    for (uint32_t i = 0; i < f->n; i++) {
        const struct dh_engine_decision *d = &f->decisions[i];
        follow_locks(&held[d->thread], d);
        if (!is_wanted(p, d))
            continue;
        if (p->accesses.n == ACCESSES_MOST) {
            p->accesses.n /= 2;
            memmove(p->accesses.at, p->accesses.at + p->accesses.n, p->accesses.n * sizeof *p->accesses.at);
        }
        struct access a = {i, held[d->thread]};
        dh_vec_push(&p->accesses, a);
    }
    free(held);
}

/* ---- the extension ---- */

struct extension {
    const struct pairs *p;
    uint32_t from, to;        /* a1, a2 */
    bool *blocked;            /* threads that cannot advance */
    struct locks *held, kept; /* by each thread; by those that are blocked */
    DH_VEC(uint64_t) tainted; /* objects and lines that would have been changed by what is left out */
    DH_VEC(struct dh_engine_decision) out;
};

enum space { MEMORY, OBJECT, THREAD, OUTSIDE };

static uint64_t taint_of(enum space space, uint64_t what)
{
    return what << 2 | space;
}

static enum space space_of(const struct dh_engine_decision *d)
{
    switch (d->kind) {
    case DH_STEP_READ:
    case DH_STEP_WRITE:
    case DH_STEP_RMW:
    case DH_STEP_FREE:
    case DH_STEP_COPY:
        return MEMORY;
    case DH_STEP_CREATE:
    case DH_STEP_JOIN:
    case DH_STEP_BEGIN:
    case DH_STEP_END:
    case DH_STEP_CANCEL:
        return THREAD;
    case DH_STEP_IO:
        return OUTSIDE;
    default:
        return OBJECT;
    }
}

static uint64_t key_of(const struct dh_engine_decision *d)
{
    enum space s = space_of(d);
    uint64_t what = s == MEMORY ? d->object / 8 : s == OUTSIDE ? 0 : d->object;
    if (d->kind == DH_STEP_BEGIN || d->kind == DH_STEP_END)
        what = d->thread;
    return taint_of(s, what);
}

static bool is_tainted(const struct extension *e, uint64_t key)
{
    for (size_t i = 0; i < e->tainted.n; i++)
        if (e->tainted.at[i] == key)
            return true;
    return false;
}

static void taint(struct extension *e, uint64_t key)
{
    if (!is_tainted(e, key))
        dh_vec_push(&e->tainted, key);
}

/* Locking and unlocking again changes nothing for others; what stays held they meet as such. */
static bool is_locking(const struct dh_engine_decision *d)
{
    return d->kind == DH_STEP_LOCK || d->kind == DH_STEP_UNLOCK;
}

static void leave_out(struct extension *e, const struct dh_engine_decision *d)
{
    if (d->kind == DH_STEP_READ || d->kind == DH_STEP_YIELD || is_locking(d))
        return;
    taint(e, key_of(d));
}

static void block(struct extension *e, uint32_t thread)
{
    e->blocked[thread] = true;
    for (unsigned i = 0; i < e->held[thread].n; i++)
        take(&e->kept, e->held[thread].at[i]);
    taint(e, taint_of(THREAD, thread)); /* it will not end */
}

static bool can_advance(const struct extension *e, const struct dh_engine_decision *d)
{
    if (d->kind == DH_STEP_LOCK && has(&e->kept, d->object))
        return false;
    return is_locking(d) || !is_tainted(e, key_of(d));
}

/* Answers whether a2 was come to. */
static bool advance(struct extension *e)
{
    const struct dh_prefix_from *f = e->p->from;
    uint32_t last = f->decisions[e->to].thread;
    for (uint32_t i = e->from; i < e->to; i++) {
        const struct dh_engine_decision *d = &f->decisions[i];
        if (!e->blocked[d->thread] && !can_advance(e, d))
            block(e, d->thread);
        if (e->blocked[last])
            return false;
        if (e->blocked[d->thread]) {
            leave_out(e, d);
            continue;
        }
        follow_locks(&e->held[d->thread], d);
        dh_vec_push(&e->out, *d);
    }
    return true;
}

static struct dh_prefix extend(const struct pairs *p, uint32_t from, uint32_t to)
{
    const struct dh_engine_decision *d = p->from->decisions;
    struct extension e = {.p = p, .from = from, .to = to};
    e.blocked = calloc(p->threads, sizeof *e.blocked);
    e.held = calloc(p->threads, sizeof *e.held);
    if (!e.blocked || !e.held)
        abort();
    for (uint32_t i = 0; i < from; i++) {
        follow_locks(&e.held[d[i].thread], &d[i]);
        dh_vec_push(&e.out, d[i]);
    }
    block(&e, d[from].thread);
    struct dh_prefix out = {.held = d[from].thread, .place1 = d[from].place, .place2 = d[to].place};
    out.reaches = advance(&e);
    out.decisions = e.out.at;
    out.n = (uint32_t)e.out.n;
    free(e.blocked);
    free(e.held);
    dh_vec_release(&e.tainted);
    return out;
}

/* ---- all of them ---- */

/* One of each pair of places and threads is enough of one schedule. */
static bool is_known(const struct dh_prefix *out, size_t n, const struct dh_engine_decision *a,
                     const struct dh_engine_decision *b)
{
    for (size_t i = 0; i < n; i++)
        if (out[i].place1 == a->place && out[i].place2 == b->place && out[i].held == a->thread)
            return true;
    return false;
}

size_t dh_prefixes(const struct dh_prefix_from *from, struct dh_prefix *out, size_t most, uint32_t *guarded)
{
    struct pairs p = {.from = from};
    size_t n = 0;
    *guarded = 0;
    gather(&p);
    for (size_t i = p.accesses.n; i-- > 0 && n < most;)
        for (size_t k = i + 1; k < p.accesses.n && n < most; k++) {
            const struct access *a = &p.accesses.at[i], *b = &p.accesses.at[k];
            const struct dh_engine_decision *da = &from->decisions[a->at], *db = &from->decisions[b->at];
            if (!conflict(&p, da, db) || is_known(out, n, da, db))
                continue;
            if (meet(&a->locks, &b->locks)) {
                ++*guarded;
                continue;
            }
            out[n++] = extend(&p, a->at, b->at);
        }
    dh_vec_release(&p.accesses);
    return n;
}

void dh_prefixes_release(struct dh_prefix *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(p[i].decisions);
}
