#include "runtime/engine/adversary/internal.h"

enum { THREADS = 256 };

struct dh_adversarial_memory *dh_adversarial_memory;
struct dh_adversary_bounds *dh_adversary_bounds;

/* ---- start ---- */

static void *memory(struct dh_memory *m, size_t n)
{
    (void)m;
    return dh_keep_alloc(n);
}

/* Future writes of the witness. */
static void foresee_from_witness(void)
{
    const struct dh_engine_control *c = dh_engine->control;
    for (uint32_t i = 0; dh_adversarial_memory->model->foresee && i < c->n_foreseen && i < DH_ENGINE_FORESEEN; i++)
        dh_adversarial_memory->witness_index[i] = dh_adversarial_memory->model->foresee(
            dh_adversarial_memory->self, &(struct dh_candidate){.value = c->foreseen[i].value,
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
    dh_adversarial_memory = dh_keep_alloc(sizeof *dh_adversarial_memory);
    if (!dh_adversarial_memory)
        return false;
    dh_text_copy(name, sizeof name, job->model);
    dh_adversarial_memory->model = dh_memory_model_by_name(name);
    if (!dh_adversarial_memory->model)
        dh_engine_cannot("no memory model '%s'", name);
    dh_adversarial_memory->memory = (struct dh_memory){.threads = job->threads ? job->threads : THREADS,
                                                       .by_passes = dh_engine->flags & DH_ENGINE_SYSTEMATIC,
                                                       .memory = memory,
                                                       .peek = dh_adversary_peek,
                                                       .poke = dh_adversary_poke};
    dh_adversarial_memory->self = dh_adversarial_memory->model->start(&dh_adversarial_memory->memory);
    dh_adversarial_memory->buffers = dh_adversarial_memory->model->enabled_steps != NULL;
    dh_adversarial_memory->buffers_per_address = dh_text_equal(name, "pso");
    if (!dh_adversarial_memory->self ||
        !dh_drains_init(dh_adversarial_memory->model, dh_adversarial_memory->self, &dh_adversarial_memory->memory))
        return false;
    foresee_from_witness();
    dh_text_copy(name, sizeof name, job->heuristic);
    enum dh_heuristic heuristic = name[0] ? dh_heuristic_by_name(name) : DH_HEURISTIC_random;
    if (heuristic == DH_HEURISTIC_COUNT)
        dh_engine_cannot("no heuristic '%s'", name);
    dh_adversarial_memory->picker = dh_picker_new(&dh_adversarial_memory->memory, heuristic, job->fairness);
    dh_adversary_bounds = &dh_adversarial_memory->bounds;
    return dh_adversarial_memory->picker;
}

void dh_adversary_begin(void)
{
    if (!dh_adversarial_memory)
        return;
    dh_adversarial_memory->schedule++;
    dh_adversarial_memory->n_tracked = 0;
    dh_adversarial_memory->bounds.low = UINTPTR_MAX;
    dh_adversarial_memory->bounds.high = 0;
    dh_adversarial_memory->bounds.access_pending = false;
    dh_adversarial_memory->n_stale = dh_adversarial_memory->n_foreseen = 0;
    dh_adversarial_memory->saw_other_atomics = false;
    dh_adversarial_memory->model->begin(dh_adversarial_memory->self);
    dh_drains_begin();
    dh_picker_begin(dh_adversarial_memory->picker, dh_engine->control->job.seed + dh_adversarial_memory->schedule);
}

/* ---- results ---- */

uint32_t dh_adversary_stale(struct dh_engine_stale_read out[DH_ENGINE_STALE_READS])
{
    if (!dh_adversarial_memory)
        return 0;
    for (uint32_t i = 0; i < dh_adversarial_memory->n_stale && i < DH_ENGINE_STALE_READS; i++)
        out[i] = dh_adversarial_memory->stale[i];
    return dh_adversarial_memory->n_stale;
}

uint32_t dh_adversary_foreseen(struct dh_engine_foreseen out[DH_ENGINE_FORESEEN])
{
    for (uint32_t i = 0; dh_adversarial_memory && i < dh_adversarial_memory->n_foreseen; i++)
        out[i] = dh_adversarial_memory->foreseen[i];
    return dh_adversarial_memory ? dh_adversarial_memory->n_foreseen : 0;
}

/* A schedule that read a future write which then did not come is not possible. */
void dh_adversary_end(void)
{
    struct dh_engine_progress *p = &dh_engine->control->progress;
    if (!dh_adversarial_memory)
        return;
    const struct dh_memory_lost *l = &dh_adversarial_memory->memory.lost;
    p->stores = dh_adversarial_memory->memory.kept.stores;
    p->buffer_most = dh_adversarial_memory->memory.kept.most;
    p->buffer_written = dh_adversarial_memory->memory.kept.written;
    p->narrowed = l->removed + l->narrowed + l->no_memory + dh_adversarial_memory->inexact;
    if (dh_adversarial_memory->model->is_justified &&
        !dh_adversarial_memory->model->is_justified(dh_adversarial_memory->self)) {
        dh_engine->end = DH_ENGINE_CUT;
        p->unjustified++;
        return;
    }
    p->stale_schedules += dh_adversarial_memory->n_stale != 0;
}

bool dh_adversary_next_pass(void)
{
    return dh_adversarial_memory && dh_adversarial_memory->memory.by_passes &&
           dh_adversarial_memory->model->next_pass &&
           dh_adversarial_memory->model->next_pass(dh_adversarial_memory->self);
}
