#include "search/hybrid.h"

#include "base/hash.h"
#include "search/grow.h"

enum { HELD = 16 /* of more locks none is known */, EPOCHS_MOST = 1 << 16 };

struct epoch {
    uint32_t unlocked; /* the epoch in the order without locks */
    uint64_t locks;    /* a bit for each that was held, by hash: two may share one */
};

struct thread {
    uint64_t held[HELD];
    uint32_t n_held; /* a recursive lock as often as it is held */
    uint32_t n;      /* epochs, as numbered in the order with locks */
    uint32_t room;
    struct epoch *epoch;
};

struct dh_hybrid {
    struct dh_search *search;
    struct thread *thread;
    uint32_t thread_room, threads;
};

struct dh_hybrid *dh_hybrid_new(struct dh_search *search)
{
    struct dh_hybrid *h = search->memory(search, sizeof *h);
    if (h)
        h->search = search;
    return h;
}

void dh_hybrid_begin(struct dh_hybrid *h)
{
    for (uint32_t i = 0; i < h->threads; i++)
        h->thread[i].n = h->thread[i].n_held = 0;
}

static struct thread *thread_at(struct dh_hybrid *h, uint32_t index)
{
    if (index >= h->threads) {
        if (!DH_SEARCH_GROW(h->search, h, thread, h->threads, index + 1))
            return NULL;
        for (; h->threads <= index; h->threads++)
            h->thread[h->threads] = (struct thread){0};
    }
    return &h->thread[index];
}

static uint64_t bit_of(uint64_t lock)
{
    return 1ull << (dh_hash_multiply(lock) >> 58);
}

static uint64_t locks_of(const struct thread *t)
{
    uint64_t locks = 0;
    for (uint32_t i = 0; i < t->n_held; i++)
        locks |= bit_of(t->held[i]);
    return locks;
}

static bool acquire(struct thread *t, uint64_t lock)
{
    if (t->n_held < HELD)
        t->held[t->n_held++] = lock;
    return true;
}

static void release(struct thread *t, uint64_t lock)
{
    for (uint32_t i = t->n_held; i-- > 0;)
        if (t->held[i] == lock) {
            t->held[i] = t->held[--t->n_held];
            return;
        }
}

bool dh_hybrid_step(struct dh_hybrid *h, uint32_t thread, const struct dh_step *s)
{
    struct thread *t = thread_at(h, thread);
    if (!t)
        return false;
    if (s->kind == DH_STEP_LOCK)
        return acquire(t, s->object);
    if (s->kind == DH_STEP_UNLOCK)
        release(t, s->object);
    if (s->kind == DH_STEP_WAIT && s->second)
        release(t, s->second);
    return s->kind == DH_STEP_WAKE && s->second && acquire(t, s->second);
}

void dh_hybrid_epoch(struct dh_hybrid *h, uint32_t thread, uint32_t epoch, uint32_t unlocked)
{
    struct thread *t = thread_at(h, thread);
    if (!t || epoch >= EPOCHS_MOST)
        return;
    if (epoch >= t->room &&
        !dh_search_grow(h->search, (dh_search_pointer *)&t->epoch, &t->room, t->n, epoch + 1, sizeof *t->epoch))
        return;
    for (; t->n < epoch; t->n++)
        t->epoch[t->n] = (struct epoch){0};
    t->epoch[epoch] = (struct epoch){unlocked, locks_of(t)};
    t->n = t->n > epoch ? t->n : epoch + 1;
}

uint32_t dh_hybrid_unprotected(const struct dh_hybrid *h, uint32_t thread, uint32_t epoch, uint32_t other)
{
    if (thread >= h->threads || other >= h->threads || epoch >= h->thread[thread].n)
        return 0;
    const struct epoch *e = &h->thread[thread].epoch[epoch];
    uint64_t now = locks_of(&h->thread[other]);
    return e->locks & now || !(e->locks | now) ? 0 : e->unlocked;
}
