#include "runtime/engine/adversary/drains.h"

enum { BUFFERS = 64, STEPS = 64 };

static struct drains {
    const struct dh_memory_model *model;
    void *self;
    struct dh_memory *memory;
    struct {
        uint32_t thread;
        uint64_t address;
    } buffer[BUFFERS];
} *drains;

bool dh_drains_init(const struct dh_memory_model *model, void *self, struct dh_memory *memory)
{
    if (!model->enabled_steps)
        return true;
    drains = dh_keep_alloc(sizeof *drains);
    if (!drains)
        return false;
    *drains = (struct drains){.model = model, .self = self, .memory = memory};
    dh_engine->drains_from = memory->threads;
    return true;
}

/* Actors of threads that do not exist yet are marked as ended. */
void dh_drains_begin(void)
{
    struct dh_engine *e = dh_engine;
    e->n_drains = 0;
    for (uint32_t i = 1; drains && i < e->drains_from + BUFFERS; i++)
        e->actors[i] = (struct dh_actor){.ended = 1};
}

/* BUFFERS: too many. */
static uint32_t slot_of(uint32_t thread, uint64_t address)
{
    struct dh_engine *e = dh_engine;
    uint32_t i = 0;
    while (i < e->n_drains && (drains->buffer[i].thread != thread || drains->buffer[i].address != address))
        i++;
    if (i < e->n_drains || i == BUFFERS)
        return i;
    drains->buffer[i].thread = thread;
    drains->buffer[i].address = address;
    e->n_drains++;
    return i;
}

static struct dh_step step_of(const struct dh_memory_drain *s)
{
    return (struct dh_step){.kind = DH_STEP_DRAIN,
                            .order = (uint8_t)((s->group & DH_DRAIN_GROUP) | (s->waits_for_all ? DH_DRAIN_LAST : 0)),
                            .flags = DH_STEP_WRITES,
                            .site = s->site,
                            .object = s->address,
                            .second = dh_step_buffer(s->thread, s->sequence),
                            .size = s->size,
                            .occurrence = s->occurrence};
}

void dh_drains_update(void)
{
    struct dh_engine *e = dh_engine;
    struct dh_memory_drain list[STEPS];
    if (!drains)
        return;
    for (uint32_t i = 0; i < e->n_drains; i++)
        e->actors[e->drains_from + i] = (struct dh_actor){.ended = 1};
    unsigned n = drains->model->enabled_steps(drains->self, list, STEPS);
    for (unsigned i = 0; i < n; i++) {
        uint32_t slot = slot_of(list[i].thread, list[i].address);
        if (slot < BUFFERS)
            e->actors[e->drains_from + slot] =
                (struct dh_actor){.step = step_of(&list[i]), .enabled = 1, .alternatives = 1};
        else {
            drains->memory->lost.narrowed++;
            drains->model->step(drains->self, &list[i]);
        }
    }
}

void dh_drains_step(uint32_t actor)
{
    const struct dh_step *s = &dh_engine->actors[actor].step;
    struct dh_memory_drain step = {.thread = dh_step_buffer_number(s),
                                   .site = s->site,
                                   .occurrence = s->occurrence,
                                   .size = (uint8_t)s->size,
                                   .address = s->object};
    drains->model->step(drains->self, &step);
    dh_drains_update();
}

static bool drains_thread(const struct dh_actor *a, uint32_t thread)
{
    return !a->ended && a->step.kind == DH_STEP_DRAIN && dh_step_buffer_number(&a->step) == thread;
}

uint16_t dh_drains_piece(uint32_t actor)
{
    const struct dh_engine *e = dh_engine;
    const struct dh_step *me = &e->actors[actor].step;
    uint16_t before = 0;
    for (uint32_t i = 0; i < e->n_drains; i++) {
        const struct dh_actor *a = &e->actors[e->drains_from + i];
        before += drains_thread(a, dh_step_buffer_number(me)) && a->step.site == me->site &&
                  a->step.occurrence == me->occurrence && a->step.object < me->object;
    }
    return before;
}

uint32_t dh_drains_actor(const struct dh_engine_decision *d, const struct dh_decision *m)
{
    for (uint32_t i = drains ? dh_engine->drains_from : m->count; i < m->count; i++) {
        const struct dh_actor *a = &m->actors[i];
        if (drains_thread(a, d->thread) && a->step.site == d->place && a->step.occurrence == d->occurrence &&
            dh_drains_piece(i) == d->alternative)
            return i;
    }
    return UINT32_MAX;
}

uint32_t dh_drains_any_of(uint32_t thread)
{
    const struct dh_engine *e = dh_engine;
    for (uint32_t i = 0; i < e->n_drains; i++)
        if (drains_thread(&e->actors[e->drains_from + i], thread))
            return e->drains_from + i;
    return UINT32_MAX;
}

static uint32_t when_drained(const struct dh_task *t)
{
    return dh_drains_any_of(t->index) == UINT32_MAX;
}

void dh_drains_flush(uint32_t place)
{
    struct dh_engine *e = dh_engine;
    uint32_t thread = e->current->index;
    if (dh_drains_any_of(thread) == UINT32_MAX)
        return;
    struct dh_step s = {
        .kind = DH_STEP_FLUSH, .site = place ? place : e->current->last_place, .second = dh_step_buffer(thread, 0)};
    dh_engine_alternatives *alternatives = e->alternatives[thread];
    e->alternatives[thread] = when_drained;
    dh_engine_park(&s);
    e->alternatives[thread] = alternatives;
}
