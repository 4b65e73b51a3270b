#include "analysis/symex_internal.h"

static void drop_rejoined(struct dh_state *s, unsigned at)
{
    s->n_rejoined--;
    s->rejoined[at] = s->rejoined[s->n_rejoined];
    s->rejoined_by[at] = s->rejoined_by[s->n_rejoined];
}

static int find_lock(const struct dh_state *s, const struct dh_symex_lock *h)
{
    for (unsigned n = 0; n < s->n_locks; n++)
        if (s->locks[n].node == h->node && s->locks[n].offset == h->offset && s->locks[n].expr == h->expr &&
            dh_symex_lock_same_kind(&s->locks[n], h))
            return (int)n;
    return -1;
}

/* The same lock by another name: still held, but nobody can say of which instance. */
static int find_alias(const struct dh_state *s, const struct dh_symex_lock *h)
{
    for (unsigned n = 0; n < s->n_locks; n++)
        if (s->locks[n].node == h->node && s->locks[n].offset == h->offset && dh_symex_lock_same_kind(&s->locks[n], h))
            return (int)n;
    return -1;
}

static void drop_lock(struct dh_state *s, unsigned at)
{
    s->n_locks--;
    memmove(s->locks + at, s->locks + at + 1, (s->n_locks - at) * sizeof *s->locks);
}

static bool merge_locks(struct dh_state *into, const struct dh_state *from)
{
    bool moved = false;
    for (unsigned n = 0; n < into->n_locks;) {
        int other = find_lock(from, &into->locks[n]);
        if (other < 0 && (other = find_alias(from, &into->locks[n])) >= 0 && into->locks[n].expr) {
            into->locks[n].expr = into->locks[n].index = 0;
            moved = true;
        }
        if (other < 0) {
            drop_lock(into, n);
            moved = true;
            continue;
        }
        if (into->locks[n].again > from->locks[other].again) {
            into->locks[n].again = from->locks[other].again;
            moved = true;
        }
        if (into->locks[n].via & ~from->locks[other].via) {
            into->locks[n].via &= from->locks[other].via;
            moved = true;
        }
        if (from->locks[other].mode > into->locks[n].mode) {
            into->locks[n].mode = from->locks[other].mode;
            moved = true;
        }
        n++;
    }
    return moved;
}

static bool merge_fresh(struct dh_state *into, const struct dh_state *from)
{
    bool moved = false;
    for (unsigned n = 0; n < into->n_fresh;) {
        if (dh_state_is_fresh(from, into->fresh[n])) {
            n++;
            continue;
        }
        dh_state_escape(into, into->fresh[n]);
        moved = true;
    }
    for (unsigned n = 0; n < into->n_fresh; n++)
        for (unsigned k = 0; k < from->n_fresh; k++)
            if (from->fresh[k] == into->fresh[n] && (from->tied >> k & 1) && !(into->tied >> n & 1)) {
                into->tied |= (uint16_t)(1u << n);
                moved = true;
            }
    return moved;
}

static bool merge_elements(struct dh_state *into, const struct dh_state *from)
{
    unsigned handed = into->n_handed, rejoined = into->n_rejoined;
    bool all = into->handed_all;
    for (unsigned n = 0; n < from->n_handed; n++)
        dh_state_pass_element(into, from->handed[n]);
    into->handed_all |= from->handed_all;
    bool fewer = false;
    for (unsigned n = 0; n < into->n_rejoined;) {
        dh_thread_set both = into->rejoined_by[n] & dh_state_element_joined(from, into->rejoined[n]);
        fewer |= both != into->rejoined_by[n];
        into->rejoined_by[n] = both;
        if (both)
            n++;
        else
            drop_rejoined(into, n);
    }
    fewer |= from->handed_by_call && !into->handed_by_call;
    into->handed_by_call |= from->handed_by_call;
    return fewer || handed != into->n_handed || rejoined != into->n_rejoined || all != into->handed_all;
}

void dh_state_merge(struct dh_state *into, const struct dh_state *from, bool *moved)
{
    if (!from->reached)
        return;
    if (!into->reached) {
        *into = *from;
        *moved = true;
        return;
    }
    struct dh_state was = {.started = into->started,
                           .joined = into->joined,
                           .ended = into->ended,
                           .phase = into->phase,
                           .ignoring = into->ignoring};
    *moved |= merge_locks(into, from);
    *moved |= merge_fresh(into, from);
    *moved |= merge_elements(into, from);
    into->started |= from->started;
    into->joined &= from->joined;
    into->ended &= from->ended;
    into->phase |= from->phase;
    into->ignoring = into->ignoring && from->ignoring;
    if (into->alone != from->alone && into->alone) {
        into->alone = 0;
        *moved = true;
    }
    *moved |= was.started != into->started || was.joined != into->joined || was.ended != into->ended ||
              was.phase != into->phase || was.ignoring != into->ignoring;
}

void dh_state_forget_register(struct dh_symex *w, struct dh_state *s, uint32_t function, uint32_t reg)
{
    const struct dh_value_numbering *x = &w->state->values;
    for (unsigned n = 0; n < s->n_locks; n++) {
        struct dh_symex_lock *h = &s->locks[n];
        if (h->expr && dh_expr_uses_register(x, h->expr, function, reg))
            h->expr = 0;
        if (h->index && dh_expr_uses_register(x, h->index, function, reg))
            h->index = 0;
    }
    for (unsigned n = 0; n < s->n_handed;) {
        if (dh_expr_uses_register(x, s->handed[n], function, reg))
            s->handed[n] = s->handed[--s->n_handed];
        else
            n++;
    }
    for (unsigned n = 0; n < s->n_rejoined;) {
        if (dh_expr_uses_register(x, s->rejoined[n], function, reg))
            drop_rejoined(s, n);
        else
            n++;
    }
}

void dh_state_lock(struct dh_state *s, const struct dh_symex_lock *h)
{
    if (h->node == DH_NO_NODE || find_lock(s, h) >= 0)
        return;
    unsigned alike = 0;
    for (unsigned n = 0; n < s->n_locks; n++)
        alike +=
            s->locks[n].node == h->node && s->locks[n].offset == h->offset && dh_symex_lock_same_kind(&s->locks[n], h);
    if (alike < 2 && s->n_locks < DH_LOCKS_MAX)
        s->locks[s->n_locks++] = *h;
}

bool dh_state_lock_recursively(struct dh_state *s, const struct dh_symex_lock *h)
{
    int held = h->node == DH_NO_NODE || !h->expr ? -1 : find_lock(s, h);
    if (held < 0)
        return false;
    s->locks[held].again += s->locks[held].again < UINT8_MAX;
    return true;
}

/* Whatever may be the one that is given back is not certainly held any more. */
void dh_state_unlock(struct dh_state *s, struct dh_heap_cell at, uint32_t expr)
{
    for (unsigned n = 0; n < s->n_locks; n++)
        if (s->locks[n].node == at.node && s->locks[n].offset == at.offset && expr && s->locks[n].expr == expr &&
            s->locks[n].again) {
            s->locks[n].again--;
            return;
        }
    for (unsigned n = 0; n < s->n_locks;) {
        if (s->locks[n].node == at.node && s->locks[n].offset == at.offset)
            drop_lock(s, n);
        else
            n++;
    }
}

/* ---- objects nobody else knows ---- */

bool dh_state_is_fresh(const struct dh_state *s, uint32_t leaf)
{
    for (unsigned n = 0; n < s->n_fresh; n++)
        if (s->fresh[n] == leaf)
            return true;
    return false;
}

void dh_state_add_fresh(struct dh_state *s, uint32_t leaf)
{
    if (!leaf || dh_state_is_fresh(s, leaf) || s->n_fresh == DH_FRESH_MAX)
        return;
    s->tied &= (uint16_t)~(1u << s->n_fresh);
    s->fresh[s->n_fresh++] = leaf;
}

static void drop_fresh(struct dh_state *s, unsigned at)
{
    uint16_t below = (uint16_t)((1u << at) - 1);
    s->n_fresh--;
    memmove(s->fresh + at, s->fresh + at + 1, (s->n_fresh - at) * sizeof *s->fresh);
    s->tied = (uint16_t)((s->tied & below) | ((s->tied >> 1) & ~below));
}

/* What was stored in a fresh object becomes known together with it; which one does not matter much. */
void dh_state_escape(struct dh_state *s, uint32_t leaf)
{
    bool gone = false;
    for (unsigned n = 0; n < s->n_fresh && !gone; n++)
        if (s->fresh[n] == leaf) {
            drop_fresh(s, n);
            gone = true;
        }
    for (unsigned n = 0; gone && n < s->n_fresh;) {
        if (s->tied >> n & 1)
            drop_fresh(s, n);
        else
            n++;
    }
}

void dh_state_nest_fresh(struct dh_state *s, uint32_t leaf)
{
    for (unsigned n = 0; n < s->n_fresh; n++)
        if (s->fresh[n] == leaf)
            s->tied |= (uint16_t)(1u << n);
}

/* ---- elements of this round ---- */

static bool among(const uint32_t *all, unsigned n, uint32_t expr)
{
    for (unsigned k = 0; k < n; k++)
        if (all[k] == expr)
            return true;
    return false;
}

void dh_state_pass_element(struct dh_state *s, uint32_t expr)
{
    for (unsigned n = 0; n < s->n_rejoined;) {
        if (s->rejoined[n] == expr)
            drop_rejoined(s, n);
        else
            n++;
    }
    if (!expr || among(s->handed, s->n_handed, expr))
        return;
    if (s->n_handed < DH_ELEMENTS_MAX)
        s->handed[s->n_handed++] = expr;
    else
        s->handed_all = true;
}

bool dh_state_is_passed(const struct dh_state *s, uint32_t expr)
{
    return s->handed_all || among(s->handed, s->n_handed, expr);
}

void dh_state_join_element(struct dh_state *s, uint32_t expr, dh_thread_set by)
{
    for (unsigned n = 0; n < s->n_rejoined; n++)
        if (s->rejoined[n] == expr) {
            s->rejoined_by[n] |= by;
            return;
        }
    if (!expr || !by || s->n_rejoined == DH_ELEMENTS_MAX)
        return;
    s->rejoined[s->n_rejoined] = expr;
    s->rejoined_by[s->n_rejoined++] = by;
}

dh_thread_set dh_state_element_joined(const struct dh_state *s, uint32_t expr)
{
    for (unsigned n = 0; n < s->n_rejoined; n++)
        if (s->rejoined[n] == expr)
            return s->rejoined_by[n];
    return 0;
}
