#include "search_model.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what an operation is ---- */

struct shape {
    uint8_t kind;
    uint16_t flags;
    unsigned object; /* address of number 0; 0: none */
    unsigned stride, size;
};

#define VAR 0x10000, 8, 8
#define OBJ(at) at, 64, 0
static const struct shape shapes[] = {
    [OP_READ] = {DH_STEP_READ, DH_STEP_READS, VAR},
    [OP_WRITE] = {DH_STEP_WRITE, DH_STEP_WRITES, VAR},
    [OP_STORE] = {DH_STEP_WRITE, DH_STEP_WRITES, VAR},
    [OP_ADD] = {DH_STEP_RMW, DH_STEP_READS | DH_STEP_WRITES | DH_STEP_ATOMIC, VAR},
    [OP_CAS] = {DH_STEP_RMW, DH_STEP_READS | DH_STEP_WRITES | DH_STEP_ATOMIC, VAR},
    [OP_ALOAD] = {DH_STEP_READ, DH_STEP_READS | DH_STEP_ATOMIC, VAR},
    [OP_ASTORE] = {DH_STEP_WRITE, DH_STEP_WRITES | DH_STEP_ATOMIC, VAR},
    [OP_WIDE] = {DH_STEP_WRITE, DH_STEP_WRITES, VAR},
    [OP_FENCE] = {DH_STEP_FENCE, 0, 0, 0, 0},
    [OP_LOCK] = {DH_STEP_LOCK, 0, OBJ(0x20000)},
    [OP_TRYLOCK] = {DH_STEP_LOCK, DH_STEP_TRY, OBJ(0x20000)},
    [OP_RDLOCK] = {DH_STEP_LOCK, DH_STEP_SHARED, OBJ(0x20000)},
    [OP_UNLOCK] = {DH_STEP_UNLOCK, 0, OBJ(0x20000)},
    [OP_RDUNLOCK] = {DH_STEP_UNLOCK, DH_STEP_SHARED, OBJ(0x20000)},
    [OP_WAIT] = {DH_STEP_WAIT, 0, OBJ(0x30000)},
    [OP_TIMED_WAIT] = {DH_STEP_WAIT, DH_STEP_TIMED, OBJ(0x30000)},
    [OP_SIGNAL] = {DH_STEP_SIGNAL, 0, OBJ(0x30000)},
    [OP_BROADCAST] = {DH_STEP_BROADCAST, 0, OBJ(0x30000)},
    [OP_SEM_WAIT] = {DH_STEP_SEM_WAIT, 0, OBJ(0x40000)},
    [OP_SEM_POST] = {DH_STEP_SEM_POST, 0, OBJ(0x40000)},
    [OP_BARRIER] = {DH_STEP_BARRIER, 0, OBJ(0x50000)},
    [OP_CREATE] = {DH_STEP_CREATE, 0, 0, 1, 0},
    [OP_JOIN] = {DH_STEP_JOIN, 0, 0, 1, 0},
    [OP_SEND] = {DH_STEP_IO, DH_STEP_WRITES, 0, 1, 0},
    [OP_RECEIVE] = {DH_STEP_IO, DH_STEP_READS, 0, 1, 0},
    [OP_FREE] = {DH_STEP_FREE, DH_STEP_WRITES, VAR},
    [OP_IO] = {DH_STEP_IO, 0, 0, 0, 0},
    [OP_YIELD] = {DH_STEP_YIELD, 0, 0, 0, 0},
    [OP_EXIT] = {DH_STEP_EXIT, 0, 0, 0, 0},
};

static bool is_local(unsigned op)
{
    return op >= OP_JUMP_IF;
}

static const struct model_line *line_of(const struct model_program *p, const struct model_state *s, unsigned t)
{
    return &p->line[t][s->thread[t].pc];
}

static bool is_created_by_another(const struct model_program *p, unsigned t)
{
    for (unsigned i = 0; i < p->threads; i++)
        for (const struct model_line *l = p->line[i]; l->op; l++)
            if (l->op == OP_CREATE && l->a == (int)t)
                return true;
    return false;
}

/* Is it the end of a thread that somebody joins? Then the end is visible. */
static bool is_joined(const struct model_program *p, unsigned t)
{
    for (unsigned i = 0; i < p->threads; i++)
        for (const struct model_line *l = p->line[i]; l->op; l++)
            if (l->op == OP_JOIN && l->a == (int)t)
                return true;
    return false;
}

/* Up to the next visible operation. */
static void run_on(const struct model_program *p, struct model_state *s, unsigned t)
{
    struct model_thread *me = &s->thread[t];
    for (const struct model_line *l; is_local((l = line_of(p, s, t))->op) && !s->failed && !s->left;) {
        me->pc++;
        if (l->op == OP_ASSERT)
            s->failed = me->reg[l->a] != l->b;
        else if (l->op == OP_LEAVE)
            s->left = true;
        else if (l->op == OP_ADD_LOCAL)
            me->reg[l->a] = (int16_t)(me->reg[l->a] + l->b);
        else if (l->op == OP_JUMP || (me->reg[l->a] == l->b) == (l->op == OP_JUMP_IF))
            me->pc = (uint8_t)(l->op == OP_JUMP ? l->a : l->c);
    }
    if (line_of(p, s, t)->op == OP_END && !me->asleep && !is_joined(p, t))
        me->ended = true;
}

void model_start(const struct model_program *p, struct model_state *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s->count, p->semaphore, sizeof s->count);
    for (unsigned t = 0; t < p->threads; t++) {
        s->thread[t].created = !is_created_by_another(p, t);
        if (s->thread[t].created)
            run_on(p, s, t);
    }
}

static void wake_step(const struct model_line *l, struct dh_step *step)
{
    step->kind = DH_STEP_WAKE;
    step->flags = l->op == OP_TIMED_WAIT ? DH_STEP_TIMED : l->op == OP_BARRIER ? DH_STEP_SHARED : 0;
    step->object = l->op == OP_BARRIER ? MODEL_BARRIER_AT(l->a) : MODEL_CONDITION_AT(l->a);
    step->second = l->op == OP_BARRIER ? 0 : MODEL_LOCK_AT(l->b);
}

static void step_of(const struct model_program *p, const struct model_state *s, unsigned t, struct dh_step *step)
{
    const struct model_line *l = line_of(p, s, t);
    memset(step, 0, sizeof *step);
    step->site = t << 8 | s->thread[t].pc;
    step->occurrence = s->thread[t].visited >> s->thread[t].pc & 1;
    if (s->thread[t].asleep) {
        wake_step(l, step);
        return;
    }
    if (l->op == OP_END || s->thread[t].begins) {
        step->kind = s->thread[t].begins ? DH_STEP_BEGIN : DH_STEP_END;
        step->object = t;
        return;
    }
    if (is_local(l->op)) /* the program ended there */
        return;
    const struct shape *shape = &shapes[l->op];
    step->kind = shape->kind;
    step->flags = shape->flags;
    step->object = shape->object + shape->stride * (unsigned)l->a;
    step->size = shape->size;
    if (l->op == OP_WIDE)
        step->size = 8 * (unsigned)l->b;
    if (l->op == OP_BARRIER)
        step->size = (unsigned)l->b;
    if (l->op == OP_WAIT || l->op == OP_TIMED_WAIT)
        step->second = MODEL_LOCK_AT(l->b);
}

static unsigned waiters(const struct model_program *p, const struct model_state *s, int condition)
{
    unsigned n = 0;
    for (unsigned t = 0; t < p->threads; t++)
        n += s->thread[t].waiting && line_of(p, s, t)->a == condition;
    return n;
}

static bool can_wake(const struct model_program *p, const struct model_state *s, unsigned t)
{
    const struct model_line *l = line_of(p, s, t);
    if (l->op == OP_BARRIER)
        return s->round[l->a] != s->thread[t].passed;
    return s->thread[t].woken && !s->owner[l->b] && !s->readers[l->b];
}

static bool can_move(const struct model_program *p, const struct model_state *s, unsigned t)
{
    const struct model_line *l = line_of(p, s, t);
    if (s->thread[t].begins)
        return true;
    if (s->thread[t].asleep)
        return can_wake(p, s, t);
    if (l->op == OP_LOCK)
        return !s->owner[l->a] && !s->readers[l->a];
    if (l->op == OP_RDLOCK)
        return !s->owner[l->a];
    if (l->op == OP_SEM_WAIT)
        return s->count[l->a];
    if (l->op == OP_RECEIVE)
        return s->sent[l->a];
    if (l->op == OP_JOIN)
        return s->thread[l->a].ended;
    return true;
}

void model_actor(const struct model_program *p, const struct model_state *s, unsigned t, struct dh_actor *actor)
{
    const struct model_line *l = line_of(p, s, t);
    memset(actor, 0, sizeof *actor);
    actor->ended = s->thread[t].ended || !s->thread[t].created;
    if (actor->ended)
        return;
    step_of(p, s, t, &actor->step);
    actor->enabled = can_move(p, s, t);
    actor->alternatives = actor->enabled;
    actor->yields = s->thread[t].yields;
    if (s->thread[t].asleep && l->op == OP_TIMED_WAIT && !s->owner[l->b] && !s->readers[l->b])
        actor->alternatives = s->thread[t].woken ? 1 : 2;
    if (!s->thread[t].begins && l->op == OP_SIGNAL && waiters(p, s, l->a) > 1)
        actor->alternatives = (uint8_t)waiters(p, s, l->a);
}

unsigned model_actors(const struct model_program *p, const struct model_state *s, struct dh_actor *actors)
{
    unsigned n = 0;
    for (unsigned t = 0; t < p->threads; t++) {
        model_actor(p, s, t, &actors[t]);
        if (s->thread[t].created)
            n = t + 1;
    }
    return n;
}

/* ---- doing it ---- */

static void wake(struct model_thread *t)
{
    t->waiting = false;
    t->woken = true;
}

static void signal_one(const struct model_program *p, struct model_state *s, int condition, unsigned which,
                       struct dh_step *step)
{
    step->flags |= waiters(p, s, condition) ? 0 : DH_STEP_FAILED;
    for (unsigned t = 0; t < p->threads; t++)
        if (s->thread[t].waiting && line_of(p, s, t)->a == condition && which-- == 0) {
            wake(&s->thread[t]);
            return;
        }
}

static void wait_on(struct model_state *s, unsigned t, const struct model_line *l)
{
    struct model_thread *me = &s->thread[t];
    s->owner[l->b] = 0;
    me->asleep = me->waiting = true;
    me->woken = false;
    me->pc--; /* stays where it is until it wakes */
}

static void arrive(struct model_state *s, unsigned t, const struct model_line *l)
{
    struct model_thread *me = &s->thread[t];
    me->passed = s->round[l->a];
    me->asleep = true;
    me->pc--;
    if (++s->arrived[l->a] == l->b) {
        s->arrived[l->a] = 0;
        s->round[l->a]++;
    }
}

static void come_back(struct model_state *s, unsigned t, const struct model_line *l, unsigned alternative)
{
    struct model_thread *me = &s->thread[t];
    me->asleep = me->woken = me->waiting = false;
    me->passed = 0;
    if (l->op != OP_BARRIER)
        s->owner[l->b] = (int8_t)(t + 1);
    if (l->op == OP_TIMED_WAIT)
        me->reg[l->c] = (int16_t)alternative;
}

static void move_memory(struct model_state *s, unsigned t, const struct model_line *l, struct dh_step *step)
{
    int16_t *var = &s->var[l->a], *reg = s->thread[t].reg;
    switch (l->op) {
    case OP_READ:
    case OP_ALOAD:
        reg[l->b] = *var;
        break;
    case OP_WRITE:
    case OP_ASTORE:
        *var = l->b;
        break;
    case OP_STORE:
        *var = reg[l->b];
        break;
    case OP_ADD:
        reg[l->c] = *var;
        *var = (int16_t)(*var + l->b);
        break;
    case OP_CAS:
        reg[l->c] = *var == l->b >> 8;
        if (reg[l->c])
            *var = l->b & 0xFF;
        else
            step->flags &= (uint16_t)~DH_STEP_WRITES;
        break;
    case OP_WIDE:
        for (int i = 0; i < l->b; i++)
            var[i] = 0;
        break;
    case OP_FREE:
        *var = -1;
        break;
    default:
        break;
    }
}

static void move_sync(const struct model_program *p, struct model_state *s, unsigned t, const struct model_line *l,
                      unsigned alternative, struct dh_step *step)
{
    bool free = !s->owner[l->a] && !s->readers[l->a];
    switch (l->op) {
    case OP_TRYLOCK:
        s->thread[t].reg[l->b] = free;
        if (!free) {
            step->flags |= DH_STEP_FAILED;
            break;
        }
        /* fall through */
    case OP_LOCK:
        s->owner[l->a] = (int8_t)(t + 1);
        break;
    case OP_RDLOCK:
        s->readers[l->a]++;
        break;
    case OP_RDUNLOCK:
        s->readers[l->a]--;
        break;
    case OP_UNLOCK:
        s->owner[l->a] = 0;
        break;
    case OP_SIGNAL:
        signal_one(p, s, l->a, alternative, step);
        break;
    case OP_BROADCAST:
        step->flags |= waiters(p, s, l->a) ? 0 : DH_STEP_FAILED;
        for (unsigned n = waiters(p, s, l->a); n; n--)
            signal_one(p, s, l->a, 0, step);
        break;
    case OP_SEM_WAIT:
        s->count[l->a]--;
        break;
    case OP_SEM_POST:
        s->count[l->a]++;
        break;
    case OP_SEND:
        s->sent[l->a]++;
        break;
    case OP_RECEIVE:
        s->sent[l->a]--;
        break;
    case OP_CREATE:
        s->thread[l->a].created = s->thread[l->a].begins = true;
        break;
    default:
        break;
    }
}

static void move_other(struct model_state *s, unsigned t, const struct model_line *l)
{
    if (l->op == OP_END)
        s->thread[t].ended = true;
    else if (l->op == OP_EXIT)
        s->exited = true;
    else if (l->op == OP_YIELD)
        s->thread[t].yields = true;
    else if (l->op == OP_IO && s->n_printed < sizeof s->printed)
        s->printed[s->n_printed++] = (uint8_t)t;
}

void model_move(const struct model_program *p, struct model_state *s, unsigned t, unsigned alternative,
                struct dh_step *step)
{
    const struct model_line *l = line_of(p, s, t);
    bool returns = s->thread[t].asleep, begins = s->thread[t].begins;
    step_of(p, s, t, step);
    for (unsigned i = 0; i < p->threads; i++)
        if (i != t)
            s->thread[i].yields = false;
    s->thread[t].yields = false;
    s->thread[t].begins = false;
    s->thread[t].visited |= (uint64_t)1 << s->thread[t].pc;
    if (l->op != OP_END && !begins)
        s->thread[t].pc++;
    if (returns)
        come_back(s, t, l, alternative);
    else if (!begins && (l->op == OP_WAIT || l->op == OP_TIMED_WAIT))
        wait_on(s, t, l);
    else if (!begins && l->op == OP_BARRIER)
        arrive(s, t, l);
    else if (!begins) {
        move_memory(s, t, l, step);
        if (l->op >= OP_LOCK && l->op <= OP_RECEIVE)
            move_sync(p, s, t, l, alternative, step);
        move_other(s, t, l);
    }
    if (!s->thread[t].ended)
        run_on(p, s, t);
}

/* ---- hashes ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    return h ^ h >> 32;
}

uint64_t model_hash(const struct model_state *s, bool with_yields)
{
    struct model_state copy;
    memset(&copy, 0, sizeof copy);
    memcpy(&copy, s, sizeof copy);
    for (unsigned t = 0; t < MODEL_THREADS; t++) {
        copy.thread[t].visited = 0;
        copy.thread[t].yields &= with_yields;
    }
    uint64_t h = 1;
    const unsigned char *bytes = (const unsigned char *)&copy;
    for (size_t i = 0; i < sizeof copy; i++)
        h = mix(h, bytes[i]);
    return h;
}

void model_run_add(struct model_run *r, unsigned thread, unsigned alternative, const struct dh_step *step)
{
    if (r->n >= MODEL_DEPTH)
        return;
    uint64_t past = 0;
    for (unsigned i = 0; i < r->n; i++)
        if (r->event[i].thread == thread || dh_steps_depend(&r->event[i].step, step))
            past += r->event[i].hash;
    uint64_t h = mix(mix(mix(7, thread), alternative), (uint64_t)step->kind << 32 | step->flags);
    h = mix(mix(mix(h, step->object), step->second), step->size);
    h = mix(mix(h, step->site), past);
    r->event[r->n++] = (struct model_event){thread, *step, h};
    r->sum += h;
}

/* ---- sets ---- */

static void set_grow(struct model_set *s)
{
    struct model_set bigger = {calloc(s->room ? 2 * s->room : 64, sizeof *s->at), 0, s->room ? 2 * s->room : 64};
    assert(bigger.at);
    for (size_t i = 0; i < s->room; i++)
        if (s->at[i])
            model_set_add(&bigger, s->at[i]);
    free(s->at);
    *s = bigger;
}

bool model_set_has(const struct model_set *s, uint64_t value)
{
    value += !value;
    for (size_t i = value; s->room && s->at[i & (s->room - 1)]; i++)
        if (s->at[i & (s->room - 1)] == value)
            return true;
    return false;
}

bool model_set_add(struct model_set *s, uint64_t value)
{
    value += !value;
    if (2 * s->n >= s->room)
        set_grow(s);
    size_t i = value;
    for (; s->at[i & (s->room - 1)]; i++)
        if (s->at[i & (s->room - 1)] == value)
            return false;
    s->at[i & (s->room - 1)] = value;
    s->n++;
    return true;
}

void model_set_release(struct model_set *s)
{
    free(s->at);
    *s = (struct model_set){0};
}

void model_result_release(struct model_result *r)
{
    model_set_release(&r->classes);
    model_set_release(&r->ends);
}

/* ---- how runs end ---- */

static bool may_move(const struct dh_actor *a)
{
    return !a->ended && (a->enabled || a->alternatives > 1);
}

static bool is_over(const struct model_state *s, const struct dh_actor *actors, unsigned n, enum dh_schedule_end *how)
{
    bool left = false, can = false;
    for (unsigned t = 0; t < n; t++) {
        left |= !actors[t].ended;
        can |= may_move(&actors[t]);
    }
    *how = s->failed ? DH_END_FAILED : s->exited || s->left || !left ? DH_END_DONE : DH_END_BLOCKED;
    return *how != DH_END_BLOCKED || !can;
}

static void count_end(struct model_result *r, const struct model_state *s, const struct model_run *run,
                      enum dh_schedule_end how)
{
    r->schedules++;
    r->blocked += how == DH_END_BLOCKED;
    r->failed += how == DH_END_FAILED;
    r->cut += how == DH_END_CUT;
    if (how == DH_END_CUT)
        return;
    /* Of a failure and of leaving counts what led to it, not what others did meanwhile. */
    uint64_t failure = (how == DH_END_FAILED || s->left) && run->n ? run->event[run->n - 1].hash : 0;
    model_set_add(&r->classes, mix(failure ? failure : run->sum, how));
    if (!failure)
        model_set_add(&r->ends, mix(model_hash(s, false), how));
}

/* ---- the oracle ---- */

struct known {
    uint64_t sum, state;
};

struct enumeration {
    const struct model_program *p;
    struct model_result *r;
    uint64_t left;
    bool naive;
    struct model_set seen;   /* beginnings */
    struct model_set states; /* beginnings with their states: as many, if dependence is right */
    struct model_run run;
};

static bool seen_before(struct enumeration *e, const struct model_state *s)
{
    if (e->naive)
        return false;
    if (e->p->spins)
        return !model_set_add(&e->seen, model_hash(s, true));
    bool is_new = model_set_add(&e->seen, e->run.sum);
    model_set_add(&e->states, mix(e->run.sum, model_hash(s, false)));
    if (e->seen.n != e->states.n) {
        fprintf(stderr, "%s: the order of independent steps matters\n", e->p->name);
        abort();
    }
    return !is_new;
}

static bool visit(struct enumeration *e, const struct model_state *s)
{
    struct dh_actor actors[MODEL_THREADS];
    unsigned n = model_actors(e->p, s, actors);
    enum dh_schedule_end how;
    if (seen_before(e, s))
        return true;
    if (!e->left--)
        return false;
    if (is_over(s, actors, n, &how)) {
        count_end(e->r, s, &e->run, how);
        return true;
    }
    for (unsigned t = 0; t < n; t++)
        for (unsigned a = actors[t].enabled ? 0 : 1;
             may_move(&actors[t]) && a < (actors[t].alternatives ? actors[t].alternatives : 1); a++) {
            struct model_state next = *s;
            struct dh_step step;
            unsigned length = e->run.n;
            uint64_t sum = e->run.sum;
            model_move(e->p, &next, t, a, &step);
            model_run_add(&e->run, t, a, &step);
            bool fine = visit(e, &next);
            e->run.n = length;
            e->run.sum = sum;
            if (!fine)
                return false;
        }
    return true;
}

bool model_enumerate(const struct model_program *p, bool naive, uint64_t most, struct model_result *r)
{
    struct enumeration *e = calloc(1, sizeof *e);
    struct model_state s;
    assert(e);
    *e = (struct enumeration){.p = p, .r = r, .left = most, .naive = naive};
    memset(r, 0, sizeof *r);
    model_start(p, &s);
    r->exhausted = visit(e, &s);
    bool all = r->exhausted;
    model_set_release(&e->seen);
    model_set_release(&e->states);
    free(e);
    return all;
}

/* ---- as a strategy does it ---- */

static bool at_target(const struct dh_search_target *t, const struct dh_actor *a, const struct dh_actor *b)
{
    return a != b && !a->ended && !b->ended && a->step.site == t->site[0] && b->step.site == t->site[1] &&
           dh_steps_race(&a->step, &b->step);
}

static bool target_reached(const struct dh_search_target *t, const struct dh_actor *actors, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            if (at_target(t, &actors[i], &actors[j]))
                return true;
    return false;
}

static enum dh_schedule_end run_once(const struct model_program *p, const struct dh_strategy *strategy, void *self,
                                     const struct dh_search *search, struct model_state *s, struct model_run *run)
{
    struct dh_actor actors[MODEL_THREADS];
    enum dh_schedule_end how;
    unsigned last = UINT32_MAX;
    run->n = 0;
    run->sum = 0;
    model_start(p, s);
    for (uint32_t depth = 0;; depth++) {
        unsigned n = model_actors(p, s, actors);
        if (is_over(s, actors, n, &how))
            return how;
        struct dh_decision moment = {actors, n, last, depth};
        if (search->target.set && target_reached(&search->target, actors, n))
            return DH_END_FAILED;
        struct dh_choice c = strategy->choose(self, &moment);
        if (c.thread == DH_CHOOSE_CUT)
            return DH_END_CUT;
        assert(c.thread < n && may_move(&actors[c.thread]));
        assert(c.alternative ? c.alternative < actors[c.thread].alternatives : actors[c.thread].enabled);
        struct dh_step step;
        model_move(p, s, c.thread, c.alternative, &step);
        strategy->done(self, c.thread, c.alternative, &step);
        model_run_add(run, c.thread, c.alternative, &step);
        last = c.thread;
    }
}

void model_explore(const struct model_program *p, const struct dh_strategy *strategy, struct dh_search *search,
                   uint64_t schedules, bool found, struct model_result *r)
{
    static struct model_run run;
    void *self = strategy->start(search);
    assert(self);
    memset(r, 0, sizeof *r);
    while (r->schedules < schedules) {
        struct model_state s;
        if (!strategy->begin(self)) {
            r->exhausted = true;
            break;
        }
        enum dh_schedule_end how = run_once(p, strategy, self, search, &s, &run);
        struct dh_actor actors[MODEL_THREADS];
        struct dh_decision moment = {actors, model_actors(p, &s, actors),
                                     run.n ? run.event[run.n - 1].thread : UINT32_MAX, run.n};
        search->reached = how == DH_END_FAILED;
        strategy->end(self, how, &moment);
        search->reached = false;
        r->steps += run.n;
        count_end(r, &s, &run, how);
        if (found && (how == DH_END_FAILED || how == DH_END_BLOCKED))
            break;
    }
}

/* ---- memory ---- */

struct block {
    struct block *next;
    _Alignas(16) char bytes[];
};

static void *more(struct dh_search *search, size_t size)
{
    struct block *b = calloc(1, sizeof *b + size);
    assert(b);
    b->next = search->host;
    search->host = b;
    return b->bytes;
}

void model_search_init(struct dh_search *search, uint64_t seed)
{
    *search = (struct dh_search){.seed = seed, .depth_max = MODEL_DEPTH, .preemptions_max = UINT32_MAX, .memory = more};
    search->target.held = UINT32_MAX;
}

void model_search_release(struct dh_search *search)
{
    for (struct block *b = search->host, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    search->host = NULL;
}
