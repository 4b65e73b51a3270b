/* AtomRace's per-thread states, the current context and activation, and the access that a word of the tables stands
 * for. */
#include "runtime/atomrace/state.h"

#include "runtime/core/context.h"
#include "runtime/core/frames.h"
#include "runtime/core/thread_state.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/spin.h"

__thread struct dh_atom_thread_state *dh_atom_current;

static struct dh_atom_thread *_Atomic threads[DH_ATOM_THREADS];
static _Atomic uint32_t n_threads;

/* ---- threads ---- */

static struct dh_atom_thread_state *free_states;
static dh_spin free_lock = DH_SPIN_INIT(DH_RANK_ATOMRACE_STATES);

static struct dh_atom_thread_state *pop_free_state(void)
{
    dh_spin_lock(&free_lock);
    struct dh_atom_thread_state *s = free_states;
    if (s)
        free_states = s->next_free;
    dh_spin_unlock(&free_lock);
    return s;
}

/* Slots are reused, and their numbers continue: no word of the last thread stands for a write of the new one. */
struct dh_atom_thread_state *dh_atom_thread_init(void)
{
    struct dh_atom_thread_state *s = pop_free_state();
    if (!s) {
        uint32_t slot = atomic_fetch_add(&n_threads, 1);
        s = slot < DH_ATOM_THREADS ? dh_alloc_forever(sizeof *s) : NULL;
        if (!s)
            return NULL;
        s->atom.slot = slot;
        atomic_store_explicit(&threads[slot], &s->atom, memory_order_release);
    }
    __atomic_store_n(&s->index, __dh_thread.index, __ATOMIC_RELEASE);
    s->open = false;
    s->in_sections = 0;
    dh_bytes_zero(s->last, sizeof s->last);
    dh_bytes_zero(s->context, sizeof s->context);
    return dh_atom_current = s;
}

void dh_atom_close_window(struct dh_atom_thread_state *s)
{
    if (!s->open)
        return;
    s->open = false;
    for (uint32_t i = 0; i < s->n_pieces; i++)
        if (s->piece[i].mine & DH_ATOM_ACTIVE)
            dh_atom_abandon(&s->piece[i]);
    s->n_pieces = 0;
}

void dh_atom_thread_recycle(struct dh_atom_thread_state *s)
{
    dh_spin_lock(&free_lock);
    s->next_free = free_states;
    free_states = s;
    dh_spin_unlock(&free_lock);
}

void dh_atom_threads_forked(void)
{
    dh_spin_forked(&free_lock);
}

/* ---- contexts and activations ---- */

uint32_t dh_atom_context_now(struct dh_atom_thread_state *s)
{
    uint32_t depth = dh_frames_known(&__dh_thread);
    uint64_t value = depth ? __dh_thread.frames[depth - 1].context : 1;
    uint32_t at = (uint32_t)(value >> 32 ^ value) % DH_ATOM_CONTEXTS;
    if (s->context[at].value != value) {
        s->context[at].id = dh_context_intern(&__dh_thread);
        s->context[at].value = value;
    }
    return s->context[at].id;
}

uintptr_t dh_atom_frame_now(void)
{
    uint32_t depth = dh_frames_known(&__dh_thread);
    return depth ? __dh_thread.frames[depth - 1].frame & ~(uintptr_t)1 : 0;
}

/* A pushed frame has its lowest bit clear; set, it means that the activation has a number. */
uint64_t dh_atom_activation_now(struct dh_atom_thread_state *s)
{
    uint32_t depth = dh_frames_known(&__dh_thread);
    if (!depth)
        return 0;
    uint64_t *number = &s->activation[depth % DH_ATOM_ACTIVATIONS];
    struct dh_frame *f = &__dh_thread.frames[depth - 1];
    if (!(f->frame & 1)) {
        f->frame |= 1;
        *number = ++s->n_activations;
    }
    return *number;
}

/* ---- from a word of the tables to its access ---- */

static uint32_t index_of(const struct dh_atom_thread *t)
{
    return __atomic_load_n(&((const struct dh_atom_thread_state *)t)->index, __ATOMIC_ACQUIRE);
}

bool dh_atom_find_access(uint64_t word, const struct dh_atom_access *by, struct dh_atom_access *out, uint32_t *thread)
{
    struct dh_atom_thread *t = atomic_load_explicit(&threads[dh_atom_slot(word)], memory_order_acquire);
    if (!t || !dh_atom_find_write(t, word, by, out))
        return false;
    *thread = index_of(t);
    return true;
}
