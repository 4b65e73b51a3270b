#include "runtime/engine/adversary/state.h"

enum { THREADS = 256 };

struct dh_adversary *dh_adversary;
struct dh_adversary_state *dh_adversary_state;

/* ---- its life ---- */

static void *memory(struct dh_memory *m, size_t n)
{
    (void)m;
    return dh_keep_alloc(n);
}

/* What the witness says will be written. */
static void foresee_given(void)
{
    const struct dh_engine_control *c = dh_engine->control;
    for (uint32_t i = 0; dh_adversary->model->foresee && i < c->n_foreseen && i < DH_ENGINE_FORESEEN; i++)
        dh_adversary->given[i] = dh_adversary->model->foresee(
            dh_adversary->self, &(struct dh_candidate){.value = c->foreseen[i].value,
                                                       .thread = c->foreseen[i].thread,
                                                       .site = c->foreseen[i].place,
                                                       .occurrence = c->foreseen[i].occurrence});
}

bool dh_adversary_init(void)
{
    const struct dh_engine_job *job = &dh_engine->control->job;
    char name[sizeof job->heuristic + 1];
    if (!job->model[0])
        return true;
    dh_adversary = dh_keep_alloc(sizeof *dh_adversary);
    if (!dh_adversary)
        return false;
    dh_text_copy(name, sizeof name, job->model);
    dh_adversary->model = dh_memory_model_by_name(name);
    if (!dh_adversary->model)
        dh_engine_cannot("no memory model '%s'", name);
    dh_adversary->memory = (struct dh_memory){.threads = job->threads ? job->threads : THREADS,
                                              .by_passes = dh_engine->flags & DH_ENGINE_SYSTEMATIC,
                                              .memory = memory,
                                              .peek = dh_adversary_peek,
                                              .poke = dh_adversary_poke};
    dh_adversary->self = dh_adversary->model->start(&dh_adversary->memory);
    dh_adversary->buffers = dh_adversary->model->enabled_steps != NULL;
    dh_adversary->by_address = dh_text_equal(name, "pso");
    if (!dh_adversary->self || !dh_drains_init(dh_adversary->model, dh_adversary->self, &dh_adversary->memory))
        return false;
    foresee_given();
    dh_text_copy(name, sizeof name, job->heuristic);
    enum dh_heuristic heuristic = name[0] ? dh_heuristic_by_name(name) : DH_HEURISTIC_random;
    if (heuristic == DH_HEURISTIC_COUNT)
        dh_engine_cannot("no heuristic '%s'", name);
    dh_adversary->picker = dh_picker_new(&dh_adversary->memory, heuristic, job->fairness);
    dh_adversary_state = &dh_adversary->state;
    return dh_adversary->picker;
}

void dh_adversary_begin(void)
{
    if (!dh_adversary)
        return;
    dh_adversary->schedule++;
    dh_adversary->n_tracked = 0;
    dh_adversary->state.low = UINTPTR_MAX;
    dh_adversary->state.high = 0;
    dh_adversary->state.making = false;
    dh_adversary->n_stale = dh_adversary->n_foreseen = 0;
    dh_adversary->others = false;
    dh_adversary->model->begin(dh_adversary->self);
    dh_drains_begin();
    dh_picker_begin(dh_adversary->picker, dh_engine->control->job.seed + dh_adversary->schedule);
}

/* ---- what came of it ---- */

uint32_t dh_adversary_stale(struct dh_engine_stale_read out[DH_ENGINE_STALE_READS])
{
    if (!dh_adversary)
        return 0;
    for (uint32_t i = 0; i < dh_adversary->n_stale && i < DH_ENGINE_STALE_READS; i++)
        out[i] = dh_adversary->stale[i];
    return dh_adversary->n_stale;
}

uint32_t dh_adversary_foreseen(struct dh_engine_foreseen out[DH_ENGINE_FORESEEN])
{
    for (uint32_t i = 0; dh_adversary && i < dh_adversary->n_foreseen; i++)
        out[i] = dh_adversary->foreseen[i];
    return dh_adversary ? dh_adversary->n_foreseen : 0;
}

/* A schedule in which a write was taken that then did not come did not happen. */
void dh_adversary_end(void)
{
    struct dh_engine_progress *p = &dh_engine->control->progress;
    if (!dh_adversary)
        return;
    const struct dh_memory_lost *l = &dh_adversary->memory.lost;
    p->stores = dh_adversary->memory.kept.stores;
    p->buffer_most = dh_adversary->memory.kept.most;
    p->buffer_written = dh_adversary->memory.kept.written;
    p->narrowed = l->removed + l->narrowed + l->no_memory + dh_adversary->unsure;
    if (dh_adversary->model->is_justified && !dh_adversary->model->is_justified(dh_adversary->self)) {
        dh_engine->end = DH_ENGINE_CUT;
        p->unjustified++;
        return;
    }
    p->stale_schedules += dh_adversary->n_stale != 0;
}

bool dh_adversary_next_pass(void)
{
    return dh_adversary && dh_adversary->memory.by_passes && dh_adversary->model->next_pass &&
           dh_adversary->model->next_pass(dh_adversary->self);
}
