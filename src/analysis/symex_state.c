/* The abstract state: join of two states, locks, fresh objects, elements of a loop. */
#include "analysis/symex_internal.h"

static void drop_rejoined(struct dh_state *s, unsigned at)
{
    s->n_element_joined--;
    s->element_joined[at] = s->element_joined[s->n_element_joined];
    s->element_joined_by[at] = s->element_joined_by[s->n_element_joined];
}

static int find_lock(const struct dh_state *s, const struct dh_symex_lock *h)
{
    for (unsigned n = 0; n < s->n_locks; n++)
        if (s->locks[n].node == h->node && s->locks[n].offset == h->offset && s->locks[n].expr == h->expr &&
            dh_symex_lock_same_kind(&s->locks[n], h))
            return (int)n;
    return -1;
}

/* The same lock with another expression: still held, but the instance is unknown. */
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
        if (into->locks[n].recursion > from->locks[other].recursion) {
            into->locks[n].recursion = from->locks[other].recursion;
            moved = true;
        }
        if (into->locks[n].reached_params & ~from->locks[other].reached_params) {
            into->locks[n].reached_params &= from->locks[other].reached_params;
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
            if (from->fresh[k] == into->fresh[n] && (from->nested >> k & 1) && !(into->nested >> n & 1)) {
                into->nested |= (uint16_t)(1u << n);
                moved = true;
            }
    return moved;
}

static bool merge_elements(struct dh_state *into, const struct dh_state *from)
{
    unsigned passed = into->n_passed, rejoined = into->n_element_joined;
    bool all = into->passed_any;
    for (unsigned n = 0; n < from->n_passed; n++)
        dh_state_pass_element(into, from->passed[n]);
    into->passed_any |= from->passed_any;
    bool fewer = false;
    for (unsigned n = 0; n < into->n_element_joined;) {
        dh_thread_set both = into->element_joined_by[n] & dh_state_element_joined(from, into->element_joined[n]);
        fewer |= both != into->element_joined_by[n];
        into->element_joined_by[n] = both;
        if (both)
            n++;
        else
            drop_rejoined(into, n);
    }
    fewer |= from->passed_by_call && !into->passed_by_call;
    into->passed_by_call |= from->passed_by_call;
    return fewer || passed != into->n_passed || rejoined != into->n_element_joined || all != into->passed_any;
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
                           .joined_heuristic = into->joined_heuristic,
                           .phase = into->phase,
                           .ignoring = into->ignoring};
    *moved |= merge_locks(into, from);
    *moved |= merge_fresh(into, from);
    *moved |= merge_elements(into, from);
    into->started |= from->started;
    into->joined &= from->joined;
    into->joined_heuristic &= from->joined_heuristic;
    into->phase |= from->phase;
    into->ignoring = into->ignoring && from->ignoring;
    if (into->only_instance != from->only_instance && into->only_instance) {
        into->only_instance = 0;
        *moved = true;
    }
    *moved |= was.started != into->started || was.joined != into->joined ||
              was.joined_heuristic != into->joined_heuristic || was.phase != into->phase ||
              was.ignoring != into->ignoring;
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
    for (unsigned n = 0; n < s->n_passed;) {
        if (dh_expr_uses_register(x, s->passed[n], function, reg))
            s->passed[n] = s->passed[--s->n_passed];
        else
            n++;
    }
    for (unsigned n = 0; n < s->n_element_joined;) {
        if (dh_expr_uses_register(x, s->element_joined[n], function, reg))
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
    s->locks[held].recursion += s->locks[held].recursion < UINT8_MAX;
    return true;
}

/* Every lock that may be the released one is not certainly held any more. */
void dh_state_unlock(struct dh_state *s, struct dh_heap_cell at, uint32_t expr)
{
    for (unsigned n = 0; n < s->n_locks; n++)
        if (s->locks[n].node == at.node && s->locks[n].offset == at.offset && expr && s->locks[n].expr == expr &&
            s->locks[n].recursion) {
            s->locks[n].recursion--;
            return;
        }
    for (unsigned n = 0; n < s->n_locks;) {
        if (s->locks[n].node == at.node && s->locks[n].offset == at.offset)
            drop_lock(s, n);
        else
            n++;
    }
}

/* ---- fresh objects ---- */

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
    s->nested &= (uint16_t)~(1u << s->n_fresh);
    s->fresh[s->n_fresh++] = leaf;
}

static void drop_fresh(struct dh_state *s, unsigned at)
{
    uint16_t below = (uint16_t)((1u << at) - 1);
    s->n_fresh--;
    memmove(s->fresh + at, s->fresh + at + 1, (s->n_fresh - at) * sizeof *s->fresh);
    s->nested = (uint16_t)((s->nested & below) | ((s->nested >> 1) & ~below));
}

/* What is stored in a fresh object escapes with it; in which one is not tracked. */
void dh_state_escape(struct dh_state *s, uint32_t leaf)
{
    bool gone = false;
    for (unsigned n = 0; n < s->n_fresh && !gone; n++)
        if (s->fresh[n] == leaf) {
            drop_fresh(s, n);
            gone = true;
        }
    for (unsigned n = 0; gone && n < s->n_fresh;) {
        if (s->nested >> n & 1)
            drop_fresh(s, n);
        else
            n++;
    }
}

void dh_state_nest_fresh(struct dh_state *s, uint32_t leaf)
{
    for (unsigned n = 0; n < s->n_fresh; n++)
        if (s->fresh[n] == leaf)
            s->nested |= (uint16_t)(1u << n);
}

/* ---- elements of this iteration ---- */

static bool contains(const uint32_t *all, unsigned n, uint32_t expr)
{
    for (unsigned k = 0; k < n; k++)
        if (all[k] == expr)
            return true;
    return false;
}

void dh_state_pass_element(struct dh_state *s, uint32_t expr)
{
    for (unsigned n = 0; n < s->n_element_joined;) {
        if (s->element_joined[n] == expr)
            drop_rejoined(s, n);
        else
            n++;
    }
    if (!expr || contains(s->passed, s->n_passed, expr))
        return;
    if (s->n_passed < DH_ELEMENTS_MAX)
        s->passed[s->n_passed++] = expr;
    else
        s->passed_any = true;
}

bool dh_state_is_passed(const struct dh_state *s, uint32_t expr)
{
    return s->passed_any || contains(s->passed, s->n_passed, expr);
}

void dh_state_join_element(struct dh_state *s, uint32_t expr, dh_thread_set by)
{
    for (unsigned n = 0; n < s->n_element_joined; n++)
        if (s->element_joined[n] == expr) {
            s->element_joined_by[n] |= by;
            return;
        }
    if (!expr || !by || s->n_element_joined == DH_ELEMENTS_MAX)
        return;
    s->element_joined[s->n_element_joined] = expr;
    s->element_joined_by[s->n_element_joined++] = by;
}

dh_thread_set dh_state_element_joined(const struct dh_state *s, uint32_t expr)
{
    for (unsigned n = 0; n < s->n_element_joined; n++)
        if (s->element_joined[n] == expr)
            return s->element_joined_by[n];
    return 0;
}
