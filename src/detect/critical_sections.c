#include "detect/critical_sections.h"
#include "base/alloc.h"

#include <string.h>

struct dh_open_sections {
    DH_VEC(struct dh_critical_section *) all; /* in the order of acquisition */
};

void dh_critical_sections_init(struct dh_critical_sections *s, struct dh_run_state *w, struct dh_field_names *names,
                               void (*closed)(void *, const struct dh_critical_section *, bool), void *arg)
{
    *s = (struct dh_critical_sections){.run = w, .names = names, .closed = closed, .arg = arg};
}

static void free_critical(struct dh_critical_section *c)
{
    dh_vec_release(&c->outer);
    dh_field_set_release(&c->part);
    dh_field_set_release(&c->whole);
    free(c);
}

void dh_critical_sections_release(struct dh_critical_sections *s)
{
    for (size_t t = 0; t < s->threads.n; t++) {
        struct dh_open_sections *open = s->threads.at[t];
        if (!open)
            continue;
        for (size_t i = 0; i < open->all.n; i++)
            free_critical(open->all.at[i]);
        dh_vec_release(&open->all);
        free(open);
    }
    dh_vec_release(&s->threads);
}

static struct dh_open_sections *open_of(struct dh_critical_sections *s, uint32_t thread)
{
    if (thread >= DH_RUN_THREADS_MAX)
        return NULL;
    while (s->threads.n <= thread)
        dh_vec_push(&s->threads, NULL);
    if (!s->threads.at[thread]) {
        s->threads.at[thread] = DH_NEW(struct dh_open_sections);
    }
    return s->threads.at[thread];
}

static struct dh_critical_section *find(struct dh_open_sections *open, uint64_t lock, size_t *at)
{
    for (size_t i = open->all.n; i-- > 0;)
        if (open->all.at[i]->lock == lock) {
            *at = i;
            return open->all.at[i];
        }
    return NULL;
}

static void lock_acquired(struct dh_critical_sections *s, const struct dh_event *e)
{
    size_t at;
    const struct dh_lock_hold *h = dh_run_find_held(s->run, e->thread, e->addr);
    struct dh_open_sections *open = h ? open_of(s, e->thread) : NULL;
    struct dh_critical_section *c = open ? find(open, e->addr, &at) : NULL;
    if (c)
        c->waiting = false;
    if (!open || c || h->depth > 1)
        return;
    c = dh_xcalloc(1, sizeof *c);
    *c = (struct dh_critical_section){.lock = e->addr,
                                      .id = h->id,
                                      .thread = e->thread,
                                      .shared = h->shared,
                                      .site = h->site,
                                      .ctx = h->ctx,
                                      .acquisition = h->acquisition};
    const struct dh_run_thread *t = dh_run_thread(s->run, e->thread);
    for (size_t i = 0; i < t->held.n; i++)
        if (t->held.at[i].lock != e->addr)
            dh_vec_push(&c->outer, (struct dh_outer_lock){t->held.at[i].id, t->held.at[i].shared});
    dh_vec_push(&open->all, c);
}

/* Locks that were released before the section ended are not outer locks. */
static void drop_outer(struct dh_open_sections *open, uint32_t id)
{
    for (size_t i = 0; i < open->all.n; i++) {
        struct dh_critical_section *c = open->all.at[i];
        for (size_t k = 0; k < c->outer.n; k++)
            if (c->outer.at[k].id == id)
                c->outer.at[k--] = c->outer.at[--c->outer.n];
    }
}

static void lock_released(struct dh_critical_sections *s, const struct dh_event *e)
{
    size_t at;
    struct dh_open_sections *open = open_of(s, e->thread);
    struct dh_critical_section *c = open ? find(open, e->addr, &at) : NULL;
    const struct dh_lock_hold *h = dh_run_find_held(s->run, e->thread, e->addr);
    bool wait = e->flags & DH_EVENT_WAIT;
    if (!c || (h && h->depth > 1 && !wait))
        return;
    dh_field_set_normalise(&c->part);
    if (wait || c->waited) {
        dh_field_set_add_all(&c->whole, &c->part);
        dh_field_set_normalise(&c->whole);
    }
    c->waited = c->waited || wait;
    c->waiting = wait;
    s->closed(s->arg, c, !wait);
    drop_outer(open, c->id);
    if (wait) {
        dh_field_set_release(&c->part);
        return;
    }
    memmove(&open->all.at[at], &open->all.at[at + 1], (open->all.n - at - 1) * sizeof *open->all.at);
    open->all.n--;
    free_critical(c);
}

static void access_event(struct dh_critical_sections *s, const struct dh_event *e)
{
    if (e->thread >= s->threads.n || !s->threads.at[e->thread] || !s->threads.at[e->thread]->all.n)
        return;
    struct dh_open_sections *open = s->threads.at[e->thread];
    struct dh_field f = dh_field_of(s->run, s->names, e);
    for (size_t i = 0; i < open->all.n; i++)
        if (!open->all.at[i]->waiting)
            dh_field_set_add(&open->all.at[i]->part, &f);
}

void dh_critical_sections_event(struct dh_critical_sections *s, const struct dh_event *e)
{
    if (dh_event_is_access(e))
        access_event(s, e);
    else if (e->kind == DH_EVENT_LOCK)
        lock_acquired(s, e);
    else if (e->kind == DH_EVENT_UNLOCK)
        lock_released(s, e);
}

static const struct dh_outer_lock *outer_of(const struct dh_critical_section *c, uint32_t id)
{
    for (size_t i = 0; i < c->outer.n; i++)
        if (c->outer.at[i].id == id)
            return &c->outer.at[i];
    return NULL;
}

bool dh_critical_sections_share_outer(const struct dh_critical_section *alone, const struct dh_critical_section *a,
                                      const struct dh_critical_section *b)
{
    for (size_t i = 0; i < alone->outer.n; i++) {
        const struct dh_outer_lock *o = &alone->outer.at[i], *p = outer_of(a, o->id), *q = outer_of(b, o->id);
        if (p && q && !(o->shared && p->shared) && !(o->shared && q->shared))
            return true;
    }
    return false;
}
