#include "analysis/thread_coexistence.h"

#include "analysis/symex_internal.h"
#include "base/alloc.h"

/* Threads that an instruction may start, callees included. */
static dh_thread_set started_by(struct dh_symex *w, uint32_t inst)
{
    const struct dh_call_graph *c = &w->points_to->calls;
    const struct dh_inst *i = &w->program->insts.at[inst];
    dh_thread_set all = 0;
    if (i->op == DH_I_CREATE || i->op == DH_I_REGISTER)
        for (size_t n = 0; n < w->threads.n; n++)
            all |= w->threads.at[n].inst == inst ? (dh_thread_set)1 << n : 0;
    if (i->op == DH_I_CALL)
        for (uint32_t it = dh_call_graph_first(c, inst), f; dh_call_graph_next(c, inst, &it, &f);)
            all |= w->state->summaries[f].starts;
    return all;
}

static void coexist(struct dh_coexistence *t, dh_thread_set some, dh_thread_set others)
{
    for (unsigned n = 0; n < DH_ABSTRACT_THREADS_MAX; n++) {
        t->with[n] |= some >> n & 1 ? others : 0;
        t->with[n] |= others >> n & 1 ? some : 0;
    }
}

/* Forward data flow: threads started on some path to a block. */
static void read_function(struct dh_coexistence *t, struct dh_symex *w, uint32_t function)
{
    const struct dh_program *p = w->program;
    const struct dh_cfg *f = dh_symex_cfg(w, function);
    dh_thread_set *before = dh_xcalloc(f->n + 1, sizeof *before);
    bool moved = true;
    while (moved) {
        moved = false;
        for (size_t k = 0; k < f->order.n; k++) {
            const struct dh_basic_block *b = &p->blocks.at[f->first + f->order.at[k]];
            dh_thread_set now = before[f->order.at[k]];
            for (uint32_t i = b->inst; i < b->inst + b->n_insts; i++) {
                dh_thread_set more = started_by(w, i);
                if (more)
                    coexist(t, more, now);
                now |= more;
            }
            for (uint32_t s = 0; s < b->n_succs; s++) {
                uint32_t to = dh_successors(p, b)[s] - f->first;
                moved |= now & ~before[to];
                before[to] |= now;
            }
        }
    }
    free(before);
}

/* Threads that exist from the beginning, or that another thread than main starts, may coexist with all. */
static dh_thread_set meet_all(const struct dh_symex *w)
{
    dh_thread_set main = 0, all = 0;
    for (size_t n = 0; n < w->threads.n; n++)
        main |= w->threads.at[n].kind == DH_ROOT_MAIN ? (dh_thread_set)1 << n : 0;
    for (size_t n = 0; n < w->threads.n; n++) {
        const struct dh_abstract_thread *t = &w->threads.at[n];
        bool by_main = t->kind == DH_ROOT_COUNT && t->creators && !(t->creators & ~main);
        all |= by_main ? 0 : (dh_thread_set)1 << n;
    }
    return all;
}

void dh_coexistence_find(struct dh_coexistence *t, struct dh_symex *w)
{
    *t = (struct dh_coexistence){0};
    for (uint32_t f = 0; f < w->program->functions.n; f++)
        if (w->program->functions.at[f].n_blocks && w->state->summaries[f].starts)
            read_function(t, w, f);
    dh_thread_set everybody = meet_all(w);
    for (unsigned n = 0; n < DH_ABSTRACT_THREADS_MAX; n++)
        t->with[n] |= everybody | (everybody >> n & 1 ? ~(dh_thread_set)0 : 0) | (dh_thread_set)1 << n;
}
