#include "analysis/points_to_andersen_internal.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { POINTER_BYTES = 8, GLOBAL_LOCATIONS_MAX = 1024, ALLOCATION_LOCATIONS_MAX = 128, SPREAD = 64 };
#define BUDGET_LEAST 1500000u
#define BUDGET_MOST 8000000u

static uint32_t *unset(size_t n)
{
    return memset(dh_xmalloc((n + 1) * sizeof(uint32_t)), 0xff, (n + 1) * sizeof(uint32_t));
}

/* ---- objects ---- */

static uint32_t make_object(struct dh_andersen *x, enum dh_abstract_object_kind kind, uint32_t index)
{
    dh_vec_push(&x->objects, (struct dh_abstract_object){.kind = kind, .index = index, .location = DH_NONE});
    return (uint32_t)x->objects.n - 1;
}

uint32_t dh_andersen_add_object(struct dh_andersen *x, enum dh_abstract_object_kind kind, uint32_t index)
{
    if (kind == DH_ABSTRACT_ALLOCATED)
        return make_object(x, kind, index);
    uint32_t *known = kind == DH_ABSTRACT_GLOBAL ? &x->by_global[index] : &x->by_function[index];
    if (*known == DH_NONE)
        *known = make_object(x, kind, index);
    return *known;
}

/* ---- locations ---- */

uint32_t dh_andersen_get_location(struct dh_andersen *x, uint32_t object, int64_t offset, uint32_t stride)
{
    struct dh_abstract_object *o = &x->objects.at[object];
    unsigned most = o->kind == DH_ABSTRACT_GLOBAL ? GLOBAL_LOCATIONS_MAX : ALLOCATION_LOCATIONS_MAX;
    if (o->n_locations >= most || offset > INT32_MAX / 2 || offset < INT32_MIN / 2)
        stride = 1;
    if (o->kind == DH_ABSTRACT_GLOBAL && x->program->globals.at[o->index].flags & DH_GLOBAL_CONSTANT &&
        !x->program->globals.at[o->index].n_initials)
        stride = 1;                      /* a string literal: offsets do not matter */
    if (o->kind == DH_ABSTRACT_FUNCTION) /* functions have no parts */
        offset = stride = 0;
    if (stride) {
        offset %= stride;
        offset += offset < 0 ? stride : 0;
    }
    uint64_t hash = dh_hash_combine(dh_pair_key(object, (uint32_t)offset), stride);
    struct dh_probe probe = dh_index_probe(&x->location_index, hash);
    for (uint32_t n; (n = dh_index_next(&x->location_index, &probe)) != DH_ABSENT;) {
        const struct dh_abstract_location *s = &x->locations.at[n];
        if (s->object == object && s->offset == offset && s->stride == stride)
            return n;
    }
    uint32_t made = (uint32_t)x->locations.n;
    dh_vec_push(&x->locations,
                (struct dh_abstract_location){object, (int32_t)offset, stride, o->location, DH_NONE, DH_NONE});
    o->location = made;
    o->n_locations++;
    dh_index_add(&x->location_index, hash, made);
    return made;
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether a_size bytes at one may overlap b_size bytes at the other. */
static bool may_overlap(const struct dh_abstract_location *a, int64_t a_size, const struct dh_abstract_location *b,
                        int64_t b_size)
{
    int64_t gap = (int64_t)b->offset - a->offset, stride = greatest_common_divisor(a->stride, b->stride);
    if (!stride)
        return gap < a_size && -gap < b_size;
    gap %= stride;
    gap += gap < 0 ? stride : 0;
    return gap < a_size || stride - gap < b_size;
}

static uint32_t location_at(struct dh_andersen *x, uint32_t location, int64_t by, uint32_t stride)
{
    struct dh_abstract_location s = x->locations.at[location];
    if (location == DH_LOCATION_UNKNOWN || (!by && !stride))
        return location;
    return dh_andersen_get_location(x, s.object, s.offset + by, greatest_common_divisor(s.stride, stride));
}

/* ---- variables ---- */

uint32_t dh_andersen_add_variable(struct dh_andersen *x)
{
    dh_vec_push(&x->variables, (struct dh_andersen_variable){.edge = DH_NONE, .constraint = DH_NONE});
    return (uint32_t)x->variables.n - 1;
}

void dh_andersen_add_pointee(struct dh_andersen *x, uint32_t variable, uint32_t location)
{
    if (x->gave_up || !dh_u64_set_add(&x->pointees, dh_pair_key(variable, location)))
        return;
    struct dh_andersen_variable *v = &x->variables.at[variable];
    if (v->n == v->cap) {
        v->cap = v->cap ? 2 * v->cap : 4;
        v->locations = dh_xrealloc(v->locations, v->cap, sizeof *v->locations);
    }
    v->locations[v->n++] = location;
    if (!v->queued) {
        v->queued = true;
        dh_vec_push(&x->queue, variable);
    }
    x->spent++;
}

void dh_andersen_add_edge(struct dh_andersen *x, uint32_t from, uint32_t to, int64_t by, uint32_t stride)
{
    if (by > INT32_MAX / 2 || by < INT32_MIN / 2)
        by = 0, stride = 1;
    bool plain = !by && !stride;
    if (from == DH_NONE || to == DH_NONE || (plain && from == to) ||
        (plain && !dh_u64_set_add(&x->plain_edges, dh_pair_key(from, to))))
        return;
    struct dh_andersen_edge e = {to, x->variables.at[from].edge, (int32_t)by, stride};
    x->variables.at[from].edge = (uint32_t)x->edges.n;
    dh_vec_push(&x->edges, e);
    /* propagate() does the rest. */
    for (uint32_t n = 0; n < x->variables.at[from].done && !x->gave_up; n++)
        dh_andersen_add_pointee(x, to, location_at(x, x->variables.at[from].locations[n], by, stride));
}

/* ---- memory ---- */

/* What is stored at one may be loaded at the other. */
static void connect_locations(struct dh_andersen *x, uint32_t stored, uint32_t loaded)
{
    const struct dh_abstract_location *a = &x->locations.at[stored], *b = &x->locations.at[loaded];
    if (a->stored != DH_NONE && b->loaded != DH_NONE && may_overlap(a, POINTER_BYTES, b, POINTER_BYTES))
        dh_andersen_add_edge(x, a->stored, b->loaded, 0, 0);
}

/* Connects a location that is stored to or loaded from for the first time to all others of its object. */
static void connect_object(struct dh_andersen *x, uint32_t location, bool stored)
{
    uint32_t at = x->objects.at[x->locations.at[location].object].location;
    for (; at != DH_NONE && !x->gave_up; at = x->locations.at[at].next)
        connect_locations(x, stored ? location : at, stored ? at : location);
}

/* Pointers are aligned, whatever the stride of an unknown offset. */
static uint32_t pointer_location(struct dh_andersen *x, uint32_t location)
{
    struct dh_abstract_location s = x->locations.at[location];
    return s.stride && s.stride < POINTER_BYTES ? dh_andersen_get_location(x, s.object, 0, POINTER_BYTES) : location;
}

static uint32_t stored_at(struct dh_andersen *x, uint32_t location)
{
    if (x->locations.at[location].stored == DH_NONE) {
        x->locations.at[location].stored = dh_andersen_add_variable(x);
        connect_object(x, location, true);
    }
    return x->locations.at[location].stored;
}

void dh_andersen_add_initial(struct dh_andersen *x, uint32_t location, uint32_t value)
{
    dh_andersen_add_edge(x, value, stored_at(x, location), 0, 0);
}

static uint32_t loaded_at(struct dh_andersen *x, uint32_t location)
{
    if (x->locations.at[location].loaded == DH_NONE) {
        x->locations.at[location].loaded = dh_andersen_add_variable(x);
        connect_object(x, location, false);
    }
    return x->locations.at[location].loaded;
}

/* Unknown code may load everything there, and store anything. */
static void queue_exposure(struct dh_andersen *x, uint32_t object)
{
    if (!x->objects.at[object].exposed)
        dh_vec_push(&x->to_expose, object);
    x->objects.at[object].exposed = true;
}

static void expose_object(struct dh_andersen *x, uint32_t object)
{
    if (x->objects.at[object].kind == DH_ABSTRACT_FUNCTION) {
        dh_andersen_expose_function(x, x->objects.at[object].index);
        return;
    }
    uint32_t all = dh_andersen_get_location(x, object, 0, POINTER_BYTES);
    dh_andersen_add_pointee(x, stored_at(x, all), DH_LOCATION_UNKNOWN);
    dh_andersen_add_constraint(x, loaded_at(x, all), (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_EXPOSE});
}

/* ---- constraints ---- */

static void apply_to_unknown(struct dh_andersen *x, const struct dh_andersen_constraint *u)
{
    if (u->kind == DH_CONSTRAINT_LOAD)
        dh_andersen_add_pointee(x, u->other, DH_LOCATION_UNKNOWN);
    else if (u->kind == DH_CONSTRAINT_STORE)
        dh_andersen_add_constraint(x, u->other, (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_EXPOSE});
    else if (u->kind == DH_CONSTRAINT_CALL)
        dh_andersen_connect_call(x, u->other, DH_NONE);
}

/* Stores to it crash. */
static bool is_constant(const struct dh_andersen *x, const struct dh_abstract_object *o)
{
    return o->kind == DH_ABSTRACT_FUNCTION ||
           (o->kind == DH_ABSTRACT_GLOBAL && x->program->globals.at[o->index].flags & DH_GLOBAL_CONSTANT);
}

static void apply_constraint(struct dh_andersen *x, const struct dh_andersen_constraint *u, uint32_t location)
{
    const struct dh_abstract_object *o = &x->objects.at[x->locations.at[location].object];
    if (location == DH_LOCATION_UNKNOWN)
        apply_to_unknown(x, u);
    else if (u->kind == DH_CONSTRAINT_EXPOSE)
        queue_exposure(x, x->locations.at[location].object);
    else if (u->kind == DH_CONSTRAINT_CALL && o->kind == DH_ABSTRACT_FUNCTION)
        dh_andersen_connect_call(x, u->other, o->index);
    else if (u->kind == DH_CONSTRAINT_LOAD && o->kind != DH_ABSTRACT_FUNCTION)
        dh_andersen_add_edge(x, loaded_at(x, pointer_location(x, location_at(x, location, u->by, 0))), u->other, 0, 0);
    else if (u->kind == DH_CONSTRAINT_STORE && !is_constant(x, o))
        dh_andersen_add_edge(x, u->other, stored_at(x, pointer_location(x, location_at(x, location, u->by, 0))), 0, 0);
}

void dh_andersen_add_constraint(struct dh_andersen *x, uint32_t variable, struct dh_andersen_constraint u)
{
    if (variable == DH_NONE ||
        (u.kind == DH_CONSTRAINT_EXPOSE && !dh_u64_set_add(&x->plain_edges, dh_pair_key(variable, DH_NONE))))
        return;
    u.next = x->variables.at[variable].constraint;
    x->variables.at[variable].constraint = (uint32_t)x->constraints.n;
    dh_vec_push(&x->constraints, u);
    for (uint32_t n = 0; n < x->variables.at[variable].done && !x->gave_up; n++)
        apply_constraint(x, &u, x->variables.at[variable].locations[n]);
}

static void propagate(struct dh_andersen *x, uint32_t variable)
{
    while (x->variables.at[variable].done < x->variables.at[variable].n && !x->gave_up) {
        uint32_t location = x->variables.at[variable].locations[x->variables.at[variable].done++];
        x->gave_up = x->spent > x->budget;
        for (uint32_t e = x->variables.at[variable].edge; e != DH_NONE; x->spent++) {
            struct dh_andersen_edge edge = x->edges.at[e];
            dh_andersen_add_pointee(x, edge.to, location_at(x, location, edge.by, edge.stride));
            e = edge.next;
        }
        for (uint32_t u = x->variables.at[variable].constraint; u != DH_NONE;) {
            struct dh_andersen_constraint use = x->constraints.at[u];
            apply_constraint(x, &use, location);
            u = use.next;
        }
    }
}

static bool take_next(struct dh_andersen *x)
{
    if (x->to_expose.n) {
        expose_object(x, x->to_expose.at[--x->to_expose.n]);
        return true;
    }
    if (dh_andersen_read_next_clone(x))
        return true;
    if (x->next == x->queue.n)
        return false;
    uint32_t variable = x->queue.at[x->next++];
    x->variables.at[variable].queued = false;
    propagate(x, variable);
    if (x->next > 65536 && 2 * x->next > x->queue.n) {
        x->queue.n -= x->next;
        memmove(x->queue.at, x->queue.at + x->next, x->queue.n * sizeof *x->queue.at);
        x->next = 0;
    }
    return true;
}

static void solve(struct dh_andersen *x)
{
    if (x->solved)
        return;
    x->solved = true;
    if (!x->budget) {
        x->budget = (uint64_t)x->program->insts.n * SPREAD;
        x->budget = x->budget < BUDGET_LEAST ? BUDGET_LEAST : x->budget > BUDGET_MOST ? BUDGET_MOST : x->budget;
    }
    dh_andersen_read_constraints(x);
    do
        while (!x->gave_up && take_next(x))
            ;
    while (!x->gave_up && dh_andersen_connect_deferred(x));
}

/* ---- queries ---- */

/* Iterates over the points-to sets of a value in all copies of its function. */
struct each {
    struct dh_andersen *x;
    dh_value value;
    uint32_t copy;
};

static struct each each_copy(struct dh_andersen *x, uint32_t function, dh_value v)
{
    solve(x);
    return (struct each){x, v, x->gave_up ? DH_NONE : x->copies_of[function]};
}

/* NULL: no more copies. */
static const struct dh_andersen_variable *next_copy(struct each *e)
{
    static const struct dh_andersen_variable nothing;
    if (e->copy == DH_NONE)
        return NULL;
    const struct dh_function_copy *c = &e->x->copies.at[e->copy];
    uint32_t at = dh_andersen_variable_of(e->x, c, e->value);
    e->copy = c->next;
    return at == DH_NONE ? &nothing : &e->x->variables.at[at];
}

/* Callees of a call: whether `wanted` is one, there is any, there may be unknown ones. */
struct callees {
    bool wanted, any, unknown;
};

static bool points_to_function(const struct dh_andersen *x, const struct dh_andersen_variable *v)
{
    bool any = false;
    for (uint32_t n = 0; n < v->n && !any; n++)
        any = x->objects.at[x->locations.at[v->locations[n]].object].kind == DH_ABSTRACT_FUNCTION;
    return any;
}

static bool points_to_location(const struct dh_andersen *x, const struct dh_andersen_variable *v, uint32_t location)
{
    return v->n && dh_u64_set_has(&x->pointees, dh_pair_key((uint32_t)(v - x->variables.at), location));
}

static struct callees find_callees(struct dh_andersen *x, uint32_t inst, uint32_t wanted)
{
    const struct dh_program *p = x->program;
    const struct dh_inst *i = &p->insts.at[inst];
    uint32_t from = p->blocks.at[dh_program_block_of(p, inst)].function;
    struct each all = each_copy(x, from, dh_operand(p, i, dh_inst_callee_operand(i)));
    uint32_t object = wanted == DH_NONE ? DH_NONE : x->by_function[wanted];
    struct callees c = {.any = false};
    for (const struct dh_andersen_variable *v; (v = next_copy(&all));) {
        c.unknown |= points_to_location(x, v, DH_LOCATION_UNKNOWN);
        c.wanted |= object != DH_NONE && points_to_location(x, v, x->objects.at[object].location);
        c.any = c.any || points_to_function(x, v);
    }
    return c;
}

/* An empty set of callees means that the constraints miss something. */
bool dh_andersen_knows_callees(struct dh_andersen *x, uint32_t inst)
{
    struct callees c = find_callees(x, inst, DH_NONE);
    return c.any && !c.unknown;
}

bool dh_andersen_may_call(struct dh_andersen *x, uint32_t inst, uint32_t function)
{
    struct callees c = find_callees(x, inst, function);
    return c.wanted || c.unknown || !c.any;
}

static bool may_alias(const struct dh_andersen *x, const struct dh_andersen_variable *v,
                      const struct dh_pointer_range *a, const struct dh_andersen_variable *w,
                      const struct dh_pointer_range *b)
{
    enum { MANY = 1 << 16 };
    if (!v->n || !w->n || (uint64_t)v->n * w->n > MANY)
        return true;
    for (uint32_t n = 0; n < v->n; n++)
        for (uint32_t k = 0; k < w->n; k++) {
            const struct dh_abstract_location *s = &x->locations.at[v->locations[n]],
                                              *t = &x->locations.at[w->locations[k]];
            if (v->locations[n] == DH_LOCATION_UNKNOWN || w->locations[k] == DH_LOCATION_UNKNOWN ||
                (s->object == t->object &&
                 may_overlap(s, a->size ? a->size : INT32_MAX, t, b->size ? b->size : INT32_MAX)))
                return true;
        }
    return false;
}

bool dh_andersen_never_alias(struct dh_andersen *x, const struct dh_pointer_range *a, const struct dh_pointer_range *b)
{
    enum { MANY_COPIES = 64 };
    struct each one = each_copy(x, a->function, a->address);
    unsigned pairs = 0;
    for (const struct dh_andersen_variable *v; (v = next_copy(&one));) {
        struct each other = each_copy(x, b->function, b->address);
        for (const struct dh_andersen_variable *w; (w = next_copy(&other)); pairs++)
            if (pairs == MANY_COPIES || may_alias(x, v, a, w, b))
                return false;
    }
    return pairs > 0;
}

/* ---- creation ---- */

struct dh_andersen *dh_andersen_new(const struct dh_program *p)
{
    struct dh_andersen *x = dh_xcalloc(1, sizeof *x);
    x->program = p;
    x->by_global = unset(p->globals.n);
    x->by_function = unset(p->functions.n);
    x->copies_of = unset(p->functions.n);
    x->common = unset(p->functions.n);
    dh_andersen_get_location(x, make_object(x, DH_ABSTRACT_UNKNOWN, 0), 0, 0);
    return x;
}

void dh_andersen_free(struct dh_andersen *x)
{
    if (!x)
        return;
    for (size_t n = 0; n < x->variables.n; n++)
        free(x->variables.at[n].locations);
    dh_vec_release(&x->variables);
    dh_vec_release(&x->objects);
    dh_vec_release(&x->locations);
    dh_vec_release(&x->edges);
    dh_vec_release(&x->constraints);
    dh_vec_release(&x->calls);
    dh_vec_release(&x->deferred);
    dh_vec_release(&x->copies);
    dh_vec_release(&x->queue);
    dh_vec_release(&x->to_expose);
    dh_u64_set_release(&x->pointees);
    dh_u64_set_release(&x->plain_edges);
    dh_index_release(&x->location_index);
    free(x->by_global);
    free(x->by_function);
    free(x->copies_of);
    free(x->common);
    free(x);
}

void dh_andersen_set_budget(struct dh_andersen *x, uint64_t budget)
{
    x->budget = budget;
}

bool dh_andersen_gave_up(const struct dh_andersen *x)
{
    return x->gave_up;
}
