#include "analysis_machine.h"

#include <string.h>

enum { THREADS = 8, FRAMES = 8, SLOTS = 16, STEPS = 4000 };

struct value {
    enum { NUMBER, POINTER, FUNCTION, THREAD } kind;
    int64_t number; /* offset of a pointer */
    uint32_t object;
};

struct clock {
    uint32_t of[THREADS];
};

struct object {
    struct value slots[SLOTS];
    int owner[SLOTS]; /* of the lock there, + 1 */
    int again[SLOTS]; /* how often more its owner took it */
    struct clock released[SLOTS];
};

struct access {
    uint32_t object, slot, inst, thread, at; /* at: own time */
    bool write, atomic;
    struct clock clock;
};

struct frame {
    uint32_t function, block, before, inst; /* before: the block it came from, number in the function */
    uint32_t result;                        /* of the call, in the caller */
    struct value *registers;
};

struct thread {
    struct frame frames[FRAMES];
    unsigned n_frames;
    struct clock clock;
    bool ended;
};

struct world {
    const struct dh_program *p;
    struct chance *c;
    struct thread threads[THREADS];
    unsigned n_threads;
    DH_VEC(struct object) objects;
    DH_VEC(struct access) accesses;
};

/* ---- values ---- */

static struct value constant(const struct world *w, dh_value v)
{
    const struct dh_constant *c = dh_program_constant(w->p, v);
    switch (c->kind) {
    case DH_CONST_GLOBAL:
        return (struct value){POINTER, c->number, c->index};
    case DH_CONST_FUNCTION:
        return (struct value){FUNCTION, 0, c->index};
    default:
        return (struct value){NUMBER, c->number, 0};
    }
}

static struct frame *top(struct thread *t)
{
    return &t->frames[t->n_frames - 1];
}

static struct value operand(const struct world *w, struct thread *t, const struct dh_inst *i, uint32_t n)
{
    dh_value v = dh_operand(w->p, i, n);
    return dh_is_register(v) ? top(t)->registers[v] : constant(w, v);
}

static void result(struct thread *t, const struct dh_inst *i, struct value v)
{
    if (i->result != DH_NONE)
        top(t)->registers[i->result] = v;
}

static struct value fresh_object(struct world *w)
{
    dh_vec_push(&w->objects, (struct object){0});
    return (struct value){POINTER, 0, (uint32_t)w->objects.n - 1};
}

static void push(struct world *w, struct thread *t, uint32_t function, uint32_t into)
{
    const struct dh_function *f = &w->p->functions.at[function];
    struct frame *n = &t->frames[t->n_frames++];
    *n =
        (struct frame){.function = function, .block = f->block, .inst = w->p->blocks.at[f->block].inst, .result = into};
    n->registers = calloc(f->n_registers + 1, sizeof *n->registers);
}

/* ---- clocks ---- */

static void join(struct clock *into, const struct clock *from)
{
    for (unsigned n = 0; n < THREADS; n++)
        if (from->of[n] > into->of[n])
            into->of[n] = from->of[n];
}

static void tick(struct world *w, unsigned thread)
{
    w->threads[thread].clock.of[thread]++;
}

/* ---- memory ---- */

static struct value *place(struct world *w, struct value at, struct object **o, unsigned *slot)
{
    *o = &w->objects.at[at.object];
    *slot = (unsigned)at.number / 8;
    return &(*o)->slots[*slot];
}

static void note(struct world *w, unsigned thread, const struct dh_inst *i, struct value at, bool write)
{
    struct clock *c = &w->threads[thread].clock;
    dh_vec_push(&w->accesses, (struct access){.object = at.object,
                                              .slot = (uint32_t)at.number / 8,
                                              .inst = (uint32_t)(i - w->p->insts.at),
                                              .thread = thread,
                                              .at = c->of[thread],
                                              .write = write,
                                              .atomic = i->order,
                                              .clock = *c});
}

static void memory(struct world *w, unsigned thread, const struct dh_inst *i)
{
    struct thread *t = &w->threads[thread];
    struct value at = operand(w, t, i, 0);
    struct object *o;
    unsigned slot;
    struct value *v = place(w, at, &o, &slot);
    if (i->order)
        join(&t->clock, &o->released[slot]);
    note(w, thread, i, at, i->op == DH_I_STORE);
    if (i->op == DH_I_STORE)
        *v = operand(w, t, i, 1);
    else
        result(t, i, *v);
    if (i->order) {
        join(&o->released[slot], &t->clock);
        tick(w, thread);
    }
}

/* ---- steps ---- */

static struct value compute(const struct world *w, struct thread *t, const struct dh_inst *i)
{
    struct value a = operand(w, t, i, 0);
    switch (i->op) {
    case DH_I_OFFSET:
        a.number += i->offset;
        return a;
    case DH_I_INDEX:
        a.number += i->offset + operand(w, t, i, 1).number * (int64_t)i->size;
        return a;
    case DH_I_BINARY:
        a.number =
            i->extra == DH_BIN_ADD ? a.number + operand(w, t, i, 1).number : a.number & operand(w, t, i, 1).number;
        return a;
    case DH_I_COMPARE:
        return (struct value){NUMBER, a.number < operand(w, t, i, 1).number, 0};
    default: /* phi */
        for (uint32_t n = 0; n + 1 < i->n_operands; n += 2)
            if (dh_operand(w->p, i, n + 1) == top(t)->before)
                return operand(w, t, i, n);
        abort();
    }
}

static bool lock(struct world *w, unsigned thread, const struct dh_inst *i)
{
    struct object *o;
    unsigned slot;
    place(w, operand(w, &w->threads[thread], i, 0), &o, &slot);
    if (i->op == DH_I_UNLOCK && o->again[slot]) {
        o->again[slot]--;
        return true;
    }
    if (i->op == DH_I_UNLOCK) {
        o->owner[slot] = 0;
        join(&o->released[slot], &w->threads[thread].clock);
        tick(w, thread);
        return true;
    }
    if (o->owner[slot] == (int)thread + 1) {
        o->again[slot]++;
        return true;
    }
    if (o->owner[slot])
        return false;
    o->owner[slot] = (int)thread + 1;
    join(&w->threads[thread].clock, &o->released[slot]);
    return true;
}

static void create(struct world *w, unsigned thread, const struct dh_inst *i)
{
    struct thread *t = &w->threads[thread], *child = &w->threads[w->n_threads];
    struct object *o;
    unsigned slot;
    struct value at = operand(w, t, i, 0), arg = operand(w, t, i, 2);
    uint32_t function = operand(w, t, i, 1).object;
    *place(w, at, &o, &slot) = (struct value){THREAD, 0, w->n_threads};
    note(w, thread, i, at, true);
    tick(w, thread);
    push(w, child, function, DH_NONE);
    top(child)->registers[0] = arg;
    child->clock = t->clock;
    child->clock.of[w->n_threads] = 1;
    tick(w, thread);
    w->n_threads++;
}

static void go(struct world *w, struct thread *t, uint32_t successor)
{
    const struct dh_basic_block *b = &w->p->blocks.at[top(t)->block];
    uint32_t first = w->p->functions.at[top(t)->function].block;
    top(t)->before = top(t)->block - first;
    top(t)->block = dh_successors(w->p, b)[successor];
    top(t)->inst = w->p->blocks.at[top(t)->block].inst;
}

static void leave(struct world *w, struct thread *t, const struct dh_inst *i)
{
    struct value v = i->n_operands ? operand(w, t, i, 0) : (struct value){0};
    uint32_t into = top(t)->result;
    free(top(t)->registers);
    if (--t->n_frames == 0)
        t->ended = true;
    else if (into != DH_NONE)
        top(t)->registers[into] = v;
}

/* False: it cannot go on now. */
static bool step(struct world *w, unsigned thread)
{
    struct thread *t = &w->threads[thread];
    struct frame *f = top(t);
    const struct dh_inst *i = &w->p->insts.at[f->inst];
    f->inst++;
    switch (i->op) {
    case DH_I_SLOT:
    case DH_I_ALLOC: {
        struct value o = fresh_object(w);
        result(t, i, o);
        break;
    }
    case DH_I_LOAD:
    case DH_I_STORE:
        memory(w, thread, i);
        break;
    case DH_I_LOCK:
    case DH_I_UNLOCK:
        if (!lock(w, thread, i)) {
            f->inst--;
            return false;
        }
        break;
    case DH_I_CREATE:
        create(w, thread, i);
        break;
    case DH_I_JOIN: {
        struct thread *who = &w->threads[operand(w, t, i, 0).object];
        if (!who->ended) {
            f->inst--;
            return false;
        }
        join(&t->clock, &who->clock);
        break;
    }
    case DH_I_CALL: {
        uint32_t callee = operand(w, t, i, 0).object;
        struct value args[4];
        for (uint32_t n = 1; n < i->n_operands; n++)
            args[n - 1] = operand(w, t, i, n);
        push(w, t, callee, i->result);
        for (uint32_t n = 1; n < i->n_operands && n <= w->p->functions.at[callee].n_params; n++)
            top(t)->registers[n - 1] = args[n - 1];
        break;
    }
    case DH_I_JUMP:
        go(w, t, 0);
        break;
    case DH_I_BRANCH:
        go(w, t, operand(w, t, i, 0).number ? 0 : 1);
        break;
    case DH_I_RETURN:
        leave(w, t, i);
        break;
    default:
        result(t, i, compute(w, t, i));
        break;
    }
    return true;
}

/* ---- a run and what was wrong in it ---- */

static void begin(struct world *w)
{
    for (size_t g = 0; g < w->p->globals.n; g++) {
        dh_vec_push(&w->objects, (struct object){0});
        for (uint32_t k = 0; k < w->p->globals.at[g].n_initials; k++) {
            const struct dh_initial *i = &w->p->initials.at[w->p->globals.at[g].initial + k];
            w->objects.at[g].slots[i->offset / 8] = constant(w, i->value);
        }
    }
    push(w, &w->threads[0], w->p->roots.at[0].function, DH_NONE);
    w->threads[0].clock.of[0] = 1;
    w->n_threads = 1;
}

static bool run(struct world *w)
{
    unsigned idle = 0;
    for (unsigned n = 0; n < STEPS; n++) {
        unsigned alive = 0;
        for (unsigned k = 0; k < w->n_threads; k++)
            alive += !w->threads[k].ended;
        if (!alive)
            return true;
        unsigned thread = chance_below(w->c, w->n_threads);
        if (w->threads[thread].ended)
            continue;
        idle = step(w, thread) ? 0 : idle + 1;
        if (idle > 400)
            return false;
    }
    return false;
}

static void find_races(struct world *w, struct machine *m)
{
    for (size_t b = 0; b < w->accesses.n; b++)
        for (size_t a = 0; a < b; a++) {
            const struct access *x = &w->accesses.at[a], *y = &w->accesses.at[b];
            if (x->object != y->object || x->slot != y->slot || x->thread == y->thread || !(x->write || y->write) ||
                (x->atomic && y->atomic) || x->at <= y->clock.of[x->thread])
                continue;
            dh_vec_push(&m->races, (struct machine_race){x->inst, y->inst});
        }
}

void machine_run(struct machine *m, const struct dh_program *p, struct chance *c)
{
    struct world w = {.p = p, .c = c};
    begin(&w);
    m->stuck = !run(&w);
    find_races(&w, m);
    for (unsigned n = 0; n < w.n_threads; n++)
        for (unsigned k = 0; k < w.threads[n].n_frames; k++)
            free(w.threads[n].frames[k].registers);
    dh_vec_release(&w.objects);
    dh_vec_release(&w.accesses);
}

void machine_release(struct machine *m)
{
    dh_vec_release(&m->races);
}
