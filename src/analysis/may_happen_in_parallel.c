#include "analysis/may_happen_in_parallel.h"

static bool has(dh_thread_set set, unsigned thread)
{
    return thread < DH_ABSTRACT_THREADS_MAX && set >> thread & 1;
}

/* Whether a thread of kind `who` may be alive when `by`, which is unique, is at `o`. */
static bool may_run(const struct dh_symex *w, const struct dh_order_state *o, unsigned by, unsigned who,
                    dh_thread_set asked)
{
    const struct dh_abstract_thread *t = &w->threads.at[who];
    if (t->inst == DH_NONE || has(o->started, who))
        return true;
    if (has(asked, who))
        return false;
    for (unsigned c = 0; c < w->threads.n; c++)
        if (has(t->creators, c) && c != by && may_run(w, o, by, c, asked | (dh_thread_set)1 << who))
            return true;
    return false;
}

bool dh_before_start(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    return w->threads.at[a->thread].unique && a->thread != b->thread &&
           !may_run(w, &w->orders.at[a->order], a->thread, b->thread, 0);
}

/* Only the sole creator of threads knows that all of them have ended. */
static bool is_over(const struct dh_symex *w, const struct dh_symex_event *a, unsigned b)
{
    return has(w->orders.at[a->order].joined, b) && w->threads.at[b].creators == (dh_thread_set)1 << a->thread;
}

static bool is_others(const struct dh_abstract_thread *t)
{
    return t->kind == DH_ROOT_COUNT || t->kind == DH_ROOT_EXPORTED || t->kind == DH_ROOT_TIMER;
}

/* Destructors of thread-specific data run while their thread ends: a thread that has joined all others comes after
 * them, and its own run when it is done. */
static bool after_all_threads(const struct dh_symex *w, const struct dh_symex_event *a)
{
    for (unsigned t = 0; t < w->threads.n; t++)
        if (t != a->thread && is_others(&w->threads.at[t]) && may_run(w, &w->orders.at[a->order], a->thread, t, 0) &&
            !is_over(w, a, t))
            return false;
    return true;
}

bool dh_after_join(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    if (!w->threads.at[a->thread].unique)
        return false;
    return is_over(w, a, b->thread) ||
           (w->threads.at[b->thread].kind == DH_ROOT_KEY_DESTRUCTOR && after_all_threads(w, a));
}

/* One thread creates all of both kinds. */
static bool have_one_creator(const struct dh_symex *w, unsigned a, unsigned b)
{
    const struct dh_abstract_thread *x = &w->threads.at[a], *y = &w->threads.at[b];
    dh_thread_set by = x->creators;
    if ((a == b && w->strict) || a == DH_ABSTRACT_THREADS_MAX - 1 || b == DH_ABSTRACT_THREADS_MAX - 1 || !by ||
        by & (by - 1) || by != y->creators || x->kind != DH_ROOT_COUNT || y->kind != DH_ROOT_COUNT)
        return false;
    for (unsigned c = 0; c < w->threads.n; c++)
        if (has(by, c) && !w->threads.at[c].unique)
            return false;
    return true;
}

bool dh_threads_alternate(const struct dh_symex *w, unsigned a, unsigned b)
{
    return have_one_creator(w, a, b) && has(w->threads.at[a].joined_at_start, b) &&
           has(w->threads.at[b].joined_at_start, a);
}

bool dh_threads_alternate_heuristically(const struct dh_symex *w, unsigned a, unsigned b)
{
    return have_one_creator(w, a, b) && has(w->threads.at[a].joined_at_start_heuristic, b) &&
           has(w->threads.at[b].joined_at_start_heuristic, a);
}

/* Threads of one kind that pass the same barriers are between the same ones at a time. */
static bool is_apart_by_barrier(const struct dh_symex *w, const struct dh_symex_event *a,
                                const struct dh_symex_event *b)
{
    uint64_t p = w->orders.at[a->order].phase, q = w->orders.at[b->order].phase;
    return a->thread == b->thread && (p | q) > 1 && !(p & q);
}

bool dh_may_happen_in_parallel(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    const struct dh_abstract_thread *x = &w->threads.at[a->thread], *y = &w->threads.at[b->thread];
    if (x->sequential || y->sequential)
        return false;
    if (a->thread == b->thread)
        return !x->unique && !is_apart_by_barrier(w, a, b);
    return !dh_before_start(w, a, b) && !dh_before_start(w, b, a) && !dh_after_join(w, a, b) &&
           !dh_after_join(w, b, a) && !dh_threads_alternate(w, a->thread, b->thread);
}
