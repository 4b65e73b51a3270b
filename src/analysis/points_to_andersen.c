#include "analysis/points_to_andersen_internal.h"

#include <stdlib.h>
#include <string.h>

enum { POINTER_BYTES = 8, SPOTS_MAX = 1024, SPOTS_MADE_MAX = 128, SPREAD = 64 };
#define BUDGET_LEAST 1500000u
#define BUDGET_MOST 8000000u

static void *filled(size_t n, size_t size, int byte)
{
    void *p = malloc((n + 1) * size);
    if (!p)
        abort();
    memset(p, byte, (n + 1) * size);
    return p;
}

static size_t spread(uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 24);
}

/* ---- sets of numbers ---- */

static bool number_add(struct dh_number_set *s, uint64_t key);

static void number_grow(struct dh_number_set *s)
{
    struct dh_number_set old = *s;
    s->mask = old.slot ? 2 * old.mask + 1 : 4095;
    s->slot = filled(s->mask, sizeof *s->slot, 0);
    s->n = 0;
    for (size_t n = 0; old.slot && n <= old.mask; n++)
        if (old.slot[n])
            number_add(s, old.slot[n] - 1);
    free(old.slot);
}

/* True when new. */
static bool number_add(struct dh_number_set *s, uint64_t key)
{
    if (!s->slot || 2 * s->n > s->mask)
        number_grow(s);
    size_t at = spread(key) & s->mask;
    for (; s->slot[at]; at = (at + 1) & s->mask)
        if (s->slot[at] == key + 1)
            return false;
    s->slot[at] = key + 1;
    s->n++;
    return true;
}

static bool number_has(const struct dh_number_set *s, uint64_t key)
{
    size_t at = s->slot ? spread(key) & s->mask : 0;
    while (s->slot && s->slot[at] && s->slot[at] != key + 1)
        at = (at + 1) & s->mask;
    return s->slot && s->slot[at];
}

/* ---- objects ---- */

static uint32_t make_object(struct dh_andersen *x, enum dh_abstract_object_kind kind, uint32_t index)
{
    dh_vec_push(&x->objects, (struct dh_abstract_object){.kind = kind, .index = index, .spot = DH_NONE});
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

/* ---- spots ---- */

static uint64_t spot_key(uint32_t object, int32_t offset, uint32_t stride)
{
    return ((uint64_t)object << 32 | (uint32_t)offset) + (uint64_t)stride * 0x1000193u;
}

static void grow_spots(struct dh_andersen *x)
{
    if (x->spot_slot && 2 * x->spots.n <= x->spot_mask)
        return;
    free(x->spot_slot);
    x->spot_mask = x->spot_mask ? 2 * x->spot_mask + 1 : 4095;
    x->spot_slot = filled(x->spot_mask, sizeof *x->spot_slot, 0);
    for (uint32_t n = 0; n < x->spots.n; n++) {
        const struct dh_abstract_location *s = &x->spots.at[n];
        size_t at = spread(spot_key(s->object, s->offset, s->stride)) & x->spot_mask;
        while (x->spot_slot[at])
            at = (at + 1) & x->spot_mask;
        x->spot_slot[at] = n + 1;
    }
}

uint32_t dh_andersen_get_location(struct dh_andersen *x, uint32_t object, int64_t offset, uint32_t stride)
{
    struct dh_abstract_object *o = &x->objects.at[object];
    unsigned most = o->kind == DH_ABSTRACT_GLOBAL ? SPOTS_MAX : SPOTS_MADE_MAX;
    if (o->n_spots >= most || offset > INT32_MAX / 2 || offset < INT32_MIN / 2)
        stride = 1;
    if (o->kind == DH_ABSTRACT_GLOBAL && x->program->globals.at[o->index].flags & DH_GLOBAL_CONSTANT &&
        !x->program->globals.at[o->index].n_initials)
        stride = 1;                      /* a text: where in it makes no difference */
    if (o->kind == DH_ABSTRACT_FUNCTION) /* one calls it, or nothing */
        offset = stride = 0;
    if (stride) {
        offset %= stride;
        offset += offset < 0 ? stride : 0;
    }
    grow_spots(x);
    size_t at = spread(spot_key(object, (int32_t)offset, stride)) & x->spot_mask;
    for (; x->spot_slot[at]; at = (at + 1) & x->spot_mask) {
        const struct dh_abstract_location *s = &x->spots.at[x->spot_slot[at] - 1];
        if (s->object == object && s->offset == offset && s->stride == stride)
            return x->spot_slot[at] - 1;
    }
    uint32_t made = (uint32_t)x->spots.n;
    dh_vec_push(&x->spots, (struct dh_abstract_location){object, (int32_t)offset, stride, o->spot, DH_NONE, DH_NONE});
    o->spot = made;
    o->n_spots++;
    x->spot_slot[at] = made + 1;
    return made;
}

static uint32_t common_measure(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether a_size bytes at one can be among b_size bytes at the other. */
static bool spots_meet(const struct dh_abstract_location *a, int64_t a_size, const struct dh_abstract_location *b,
                       int64_t b_size)
{
    int64_t gap = (int64_t)b->offset - a->offset, stride = common_measure(a->stride, b->stride);
    if (!stride)
        return gap < a_size && -gap < b_size;
    gap %= stride;
    gap += gap < 0 ? stride : 0;
    return gap < a_size || stride - gap < b_size;
}

static uint32_t moved(struct dh_andersen *x, uint32_t spot, int64_t by, uint32_t stride)
{
    struct dh_abstract_location s = x->spots.at[spot];
    if (spot == DH_LOCATION_UNKNOWN || (!by && !stride))
        return spot;
    return dh_andersen_get_location(x, s.object, s.offset + by, common_measure(s.stride, stride));
}

/* ---- variables ---- */

uint32_t dh_andersen_add_variable(struct dh_andersen *x)
{
    dh_vec_push(&x->variables, (struct dh_andersen_variable){.edge = DH_NONE, .use = DH_NONE});
    return (uint32_t)x->variables.n - 1;
}

void dh_andersen_add_pointee(struct dh_andersen *x, uint32_t variable, uint32_t spot)
{
    if (x->gave_up || !number_add(&x->holds, (uint64_t)variable << 32 | spot))
        return;
    struct dh_andersen_variable *v = &x->variables.at[variable];
    if (v->n == v->cap) {
        v->cap = v->cap ? 2 * v->cap : 4;
        v->spots = realloc(v->spots, v->cap * sizeof *v->spots);
        if (!v->spots)
            abort();
    }
    v->spots[v->n++] = spot;
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
        (plain && !number_add(&x->arcs, (uint64_t)from << 32 | to)))
        return;
    struct dh_andersen_edge e = {to, x->variables.at[from].edge, (int32_t)by, stride};
    x->variables.at[from].edge = (uint32_t)x->edges.n;
    dh_vec_push(&x->edges, e);
    /* The rest goes when its turn comes. */
    for (uint32_t n = 0; n < x->variables.at[from].done && !x->gave_up; n++)
        dh_andersen_add_pointee(x, to, moved(x, x->variables.at[from].spots[n], by, stride));
}

/* ---- memory ---- */

/* What is stored at one is seen at the other. */
static void tell_spots(struct dh_andersen *x, uint32_t held, uint32_t seen)
{
    const struct dh_abstract_location *a = &x->spots.at[held], *b = &x->spots.at[seen];
    if (a->held != DH_NONE && b->seen != DH_NONE && spots_meet(a, POINTER_BYTES, b, POINTER_BYTES))
        dh_andersen_add_edge(x, a->held, b->seen, 0, 0);
}

/* A spot that is new as one that holds, or that is looked at, against all others of its object. */
static void tell_object(struct dh_andersen *x, uint32_t spot, bool holds)
{
    uint32_t at = x->objects.at[x->spots.at[spot].object].spot;
    for (; at != DH_NONE && !x->gave_up; at = x->spots.at[at].next)
        tell_spots(x, holds ? spot : at, holds ? at : spot);
}

/* Where a pointer can lie at all: whole bytes are counted where nobody knows better, but pointers are aligned. */
static uint32_t aligned(struct dh_andersen *x, uint32_t spot)
{
    struct dh_abstract_location s = x->spots.at[spot];
    return s.stride && s.stride < POINTER_BYTES ? dh_andersen_get_location(x, s.object, 0, POINTER_BYTES) : spot;
}

static uint32_t held_at(struct dh_andersen *x, uint32_t spot)
{
    if (x->spots.at[spot].held == DH_NONE) {
        x->spots.at[spot].held = dh_andersen_add_variable(x);
        tell_object(x, spot, true);
    }
    return x->spots.at[spot].held;
}

void dh_andersen_add_initial(struct dh_andersen *x, uint32_t spot, uint32_t value)
{
    dh_andersen_add_edge(x, value, held_at(x, spot), 0, 0);
}

static uint32_t seen_at(struct dh_andersen *x, uint32_t spot)
{
    if (x->spots.at[spot].seen == DH_NONE) {
        x->spots.at[spot].seen = dh_andersen_add_variable(x);
        tell_object(x, spot, false);
    }
    return x->spots.at[spot].seen;
}

/* Code nobody knows may load whatever is there, and store whatever it likes. */
static void expose(struct dh_andersen *x, uint32_t object)
{
    if (!x->objects.at[object].exposed)
        dh_vec_push(&x->to_expose, object);
    x->objects.at[object].exposed = true;
}

static void expose_now(struct dh_andersen *x, uint32_t object)
{
    if (x->objects.at[object].kind == DH_ABSTRACT_FUNCTION) {
        dh_andersen_expose_function(x, x->objects.at[object].index);
        return;
    }
    uint32_t all = dh_andersen_get_location(x, object, 0, POINTER_BYTES);
    dh_andersen_add_pointee(x, held_at(x, all), DH_LOCATION_UNKNOWN);
    dh_andersen_add_constraint(x, seen_at(x, all), (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_EXPOSE});
}

/* ---- uses ---- */

static void use_anywhere(struct dh_andersen *x, const struct dh_andersen_constraint *u)
{
    if (u->kind == DH_CONSTRAINT_LOAD)
        dh_andersen_add_pointee(x, u->other, DH_LOCATION_UNKNOWN);
    else if (u->kind == DH_CONSTRAINT_STORE)
        dh_andersen_add_constraint(x, u->other, (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_EXPOSE});
    else if (u->kind == DH_CONSTRAINT_CALL)
        dh_andersen_connect_call(x, u->other, DH_NONE);
}

/* Who stores to it does not come far. */
static bool is_constant(const struct dh_andersen *x, const struct dh_abstract_object *o)
{
    return o->kind == DH_ABSTRACT_FUNCTION ||
           (o->kind == DH_ABSTRACT_GLOBAL && x->program->globals.at[o->index].flags & DH_GLOBAL_CONSTANT);
}

static void use_spot(struct dh_andersen *x, const struct dh_andersen_constraint *u, uint32_t spot)
{
    const struct dh_abstract_object *o = &x->objects.at[x->spots.at[spot].object];
    if (spot == DH_LOCATION_UNKNOWN)
        use_anywhere(x, u);
    else if (u->kind == DH_CONSTRAINT_EXPOSE)
        expose(x, x->spots.at[spot].object);
    else if (u->kind == DH_CONSTRAINT_CALL && o->kind == DH_ABSTRACT_FUNCTION)
        dh_andersen_connect_call(x, u->other, o->index);
    else if (u->kind == DH_CONSTRAINT_LOAD && o->kind != DH_ABSTRACT_FUNCTION)
        dh_andersen_add_edge(x, seen_at(x, aligned(x, moved(x, spot, u->by, 0))), u->other, 0, 0);
    else if (u->kind == DH_CONSTRAINT_STORE && !is_constant(x, o))
        dh_andersen_add_edge(x, u->other, held_at(x, aligned(x, moved(x, spot, u->by, 0))), 0, 0);
}

void dh_andersen_add_constraint(struct dh_andersen *x, uint32_t variable, struct dh_andersen_constraint u)
{
    if (variable == DH_NONE ||
        (u.kind == DH_CONSTRAINT_EXPOSE && !number_add(&x->arcs, (uint64_t)variable << 32 | DH_NONE)))
        return;
    u.next = x->variables.at[variable].use;
    x->variables.at[variable].use = (uint32_t)x->uses.n;
    dh_vec_push(&x->uses, u);
    for (uint32_t n = 0; n < x->variables.at[variable].done && !x->gave_up; n++)
        use_spot(x, &u, x->variables.at[variable].spots[n]);
}

static void work_on(struct dh_andersen *x, uint32_t variable)
{
    while (x->variables.at[variable].done < x->variables.at[variable].n && !x->gave_up) {
        uint32_t spot = x->variables.at[variable].spots[x->variables.at[variable].done++];
        x->gave_up = x->spent > x->budget;
        for (uint32_t e = x->variables.at[variable].edge; e != DH_NONE; x->spent++) {
            struct dh_andersen_edge edge = x->edges.at[e];
            dh_andersen_add_pointee(x, edge.to, moved(x, spot, edge.by, edge.stride));
            e = edge.next;
        }
        for (uint32_t u = x->variables.at[variable].use; u != DH_NONE;) {
            struct dh_andersen_constraint use = x->uses.at[u];
            use_spot(x, &use, spot);
            u = use.next;
        }
    }
}

static bool take_next(struct dh_andersen *x)
{
    if (x->to_expose.n) {
        expose_now(x, x->to_expose.at[--x->to_expose.n]);
        return true;
    }
    if (dh_andersen_read_next_clone(x))
        return true;
    if (x->next == x->queue.n)
        return false;
    uint32_t variable = x->queue.at[x->next++];
    x->variables.at[variable].queued = false;
    work_on(x, variable);
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

/* ---- questions ---- */

/* What the value may point to in all copies of the function, one after the other. */
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

/* Functions that come to a call: `wanted` among them, any at all, and whether others may. */
struct callees {
    bool wanted, any, unknown;
};

static bool holds_function(const struct dh_andersen *x, const struct dh_andersen_variable *v)
{
    bool any = false;
    for (uint32_t n = 0; n < v->n && !any; n++)
        any = x->objects.at[x->spots.at[v->spots[n]].object].kind == DH_ABSTRACT_FUNCTION;
    return any;
}

static bool holds_spot(const struct dh_andersen *x, const struct dh_andersen_variable *v, uint32_t spot)
{
    return v->n && number_has(&x->holds, (uint64_t)(v - x->variables.at) << 32 | spot);
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
        c.unknown |= holds_spot(x, v, DH_LOCATION_UNKNOWN);
        c.wanted |= object != DH_NONE && holds_spot(x, v, x->objects.at[object].spot);
        c.any = c.any || holds_function(x, v);
    }
    return c;
}

/* Where nobody put a function, it came some other way. */
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

static bool may_meet(const struct dh_andersen *x, const struct dh_andersen_variable *v,
                     const struct dh_pointer_range *a, const struct dh_andersen_variable *w,
                     const struct dh_pointer_range *b)
{
    enum { MANY = 1 << 16 };
    if (!v->n || !w->n || (uint64_t)v->n * w->n > MANY)
        return true;
    for (uint32_t n = 0; n < v->n; n++)
        for (uint32_t k = 0; k < w->n; k++) {
            const struct dh_abstract_location *s = &x->spots.at[v->spots[n]], *t = &x->spots.at[w->spots[k]];
            if (v->spots[n] == DH_LOCATION_UNKNOWN || w->spots[k] == DH_LOCATION_UNKNOWN ||
                (s->object == t->object &&
                 spots_meet(s, a->size ? a->size : INT32_MAX, t, b->size ? b->size : INT32_MAX)))
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
            if (pairs == MANY_COPIES || may_meet(x, v, a, w, b))
                return false;
    }
    return pairs > 0;
}

/* ---- life ---- */

struct dh_andersen *dh_andersen_new(const struct dh_program *p)
{
    struct dh_andersen *x = calloc(1, sizeof *x);
    if (!x)
        abort();
    x->program = p;
    x->by_global = filled(p->globals.n, sizeof *x->by_global, 0xff);
    x->by_function = filled(p->functions.n, sizeof *x->by_function, 0xff);
    x->copies_of = filled(p->functions.n, sizeof *x->copies_of, 0xff);
    x->common = filled(p->functions.n, sizeof *x->common, 0xff);
    dh_andersen_get_location(x, make_object(x, DH_ABSTRACT_UNKNOWN, 0), 0, 0);
    return x;
}

void dh_andersen_free(struct dh_andersen *x)
{
    if (!x)
        return;
    for (size_t n = 0; n < x->variables.n; n++)
        free(x->variables.at[n].spots);
    dh_vec_release(&x->variables);
    dh_vec_release(&x->objects);
    dh_vec_release(&x->spots);
    dh_vec_release(&x->edges);
    dh_vec_release(&x->uses);
    dh_vec_release(&x->calls);
    dh_vec_release(&x->deferred);
    dh_vec_release(&x->copies);
    dh_vec_release(&x->queue);
    dh_vec_release(&x->to_expose);
    free(x->holds.slot);
    free(x->arcs.slot);
    free(x->spot_slot);
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
