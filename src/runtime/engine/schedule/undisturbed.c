#include "runtime/engine/schedule/undisturbed.h"

#include "search/actors.h"

static uint32_t quantum_now(const struct dh_engine *e)
{
    return e->is_even ? 1 : e->quantum;
}

void dh_undisturbed_step(struct dh_engine *e, uint32_t task)
{
    bool all_had_turn = e->last < e->n_tasks && task < e->last;
    if (all_had_turn && e->undisturbed - e->depth <= (uint64_t)e->quantum * (e->n_tasks + 1))
        e->is_even = true;
}

struct dh_choice dh_undisturbed_choose(const struct dh_engine *e)
{
    uint32_t best = DH_CHOOSE_CUT, from = e->last < e->n_tasks ? e->last : e->n_tasks - 1;
    enum dh_rank best_rank = DH_RANK_BLOCKED;
    if (e->last < e->n_tasks && e->in_row < quantum_now(e) && dh_actor_rank(&e->actors[e->last]) == DH_RANK_READY)
        return (struct dh_choice){e->last, 0};
    for (uint32_t i = 1; i <= e->n_tasks && best_rank < DH_RANK_READY; i++) {
        uint32_t task = (from + i) % e->n_tasks;
        enum dh_rank rank = dh_actor_rank(&e->actors[task]);
        if (rank > best_rank) {
            best_rank = rank;
            best = task;
        }
    }
    return (struct dh_choice){best, best == DH_CHOOSE_CUT ? 0 : dh_actor_first(&e->actors[best])};
}

bool dh_undisturbed_goes_on(const struct dh_engine *e, const struct dh_task *t)
{
    dh_engine_alternatives *alternatives = e->alternatives[t->index];
    return e->in_row < quantum_now(e) && !e->actors[t->index].yields && (!alternatives || alternatives(t) & 1);
}

struct dh_engine_decision dh_undisturbed_entry(const struct dh_engine *e)
{
    return (struct dh_engine_decision){.occurrence = e->quantum,
                                       .object = e->depth < e->undisturbed ? e->depth : e->undisturbed};
}

uint32_t dh_undisturbed_of_prefix(struct dh_engine *e)
{
    const struct dh_engine_decision *first = dh_engine_prefix(e->control);
    if (!e->control->job.prefix_length || !dh_engine_is_undisturbed(first))
        return 0;
    e->undisturbed = first->object < UINT32_MAX ? (uint32_t)first->object : UINT32_MAX;
    e->quantum = first->occurrence ? first->occurrence : 1;
    return 1;
}
