#include "memory_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 32, PLACES = LITMUS_VARIABLES + LITMUS_LOCKS, RUNS = 20000, FENCE = 0, VALUES = 10 };
enum { READS = 1, WRITES = 2 };

struct event {
    int8_t thread;  /* -1: initial */
    uint8_t access; /* FENCE, READS, WRITES or both */
    uint8_t order, place;
    uint8_t read, written;
    bool is_lock; /* lock or unlock, which processors do by locked instructions */
    bool is_final;
};

/* ---- relations of at most 32 events ---- */

struct relation {
    uint32_t row[EVENTS];
};

static bool in(const struct relation *r, unsigned a, unsigned b)
{
    return r->row[a] >> b & 1;
}

static void relate(struct relation *r, unsigned a, unsigned b)
{
    r->row[a] |= UINT32_C(1) << b;
}

static void unite(struct relation *r, const struct relation *with)
{
    for (unsigned i = 0; i < EVENTS; i++)
        r->row[i] |= with->row[i];
}

static void close_up(struct relation *r, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < n; i++)
            if (in(r, i, k))
                r->row[i] |= r->row[k];
}

static bool is_acyclic(struct relation r, unsigned n)
{
    close_up(&r, n);
    for (unsigned i = 0; i < n; i++)
        if (in(&r, i, i))
            return false;
    return true;
}

static struct relation then(const struct relation *a, const struct relation *b, unsigned n)
{
    struct relation r = {0};
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++)
            if (in(a, i, k))
                r.row[i] |= b->row[k];
    return r;
}

static struct relation maybe(struct relation r, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        relate(&r, i, i);
    return r;
}

/* ---- a candidate execution ---- */

struct execution {
    unsigned n;
    struct event e[EVENTS];
    int8_t source[EVENTS]; /* of reads */
    struct relation po, rf, co, fr;
};

static bool same_place(const struct event *a, const struct event *b)
{
    return a->access && b->access && a->place == b->place;
}

static void derive_fr(struct execution *x)
{
    memset(&x->fr, 0, sizeof x->fr);
    for (unsigned r = 0; r < x->n; r++)
        if (x->e[r].access & READS)
            for (unsigned w = 0; w < x->n; w++)
                if (w != r && in(&x->co, (unsigned)x->source[r], w))
                    relate(&x->fr, r, w);
}

static bool is_coherent(const struct execution *x)
{
    struct relation r = x->rf;
    unite(&r, &x->co);
    unite(&r, &x->fr);
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++)
            if (in(&x->po, a, b) && same_place(&x->e[a], &x->e[b]))
                relate(&r, a, b);
    return is_acyclic(r, x->n);
}

/* Nothing between what an update read and what it wrote. */
static bool is_atomic(const struct execution *x)
{
    for (unsigned u = 0; u < x->n; u++)
        for (unsigned w = 0; x->e[u].access == (READS | WRITES) && w < x->n; w++)
            if (in(&x->co, (unsigned)x->source[u], w) && in(&x->co, w, u))
                return false;
    return true;
}

/* ---- SC, TSO, PSO ---- */

static bool is_sc(const struct execution *x)
{
    struct relation r = x->po;
    unite(&r, &x->rf);
    unite(&r, &x->co);
    unite(&r, &x->fr);
    return is_acyclic(r, x->n);
}

static bool is_full(const struct event *e)
{
    return e->access == (READS | WRITES) || e->is_lock || e->is_final || e->thread < 0 ||
           (e->access == FENCE && e->order == DH_ORDER_SEQ_CST);
}

static bool orders_writes(const struct execution *x, unsigned a, unsigned b)
{
    if (x->e[b].order >= DH_ORDER_RELEASE)
        return true;
    for (unsigned f = 0; f < x->n; f++)
        if (x->e[f].access == FENCE && x->e[f].order >= DH_ORDER_RELEASE && in(&x->po, a, f) && in(&x->po, f, b))
            return true;
    return false;
}

static bool keeps_order(const struct execution *x, unsigned a, unsigned b, bool is_pso)
{
    const struct event *first = &x->e[a], *second = &x->e[b];
    if (is_full(first) || is_full(second))
        return true;
    if (first->access == FENCE || second->access == FENCE)
        return false;
    if (first->access == READS)
        return true;
    if (first->order == DH_ORDER_SEQ_CST)
        return true; /* a fence follows */
    if (second->access == READS)
        return false;
    return !is_pso || orders_writes(x, a, b);
}

static bool is_buffered(const struct execution *x, bool is_pso)
{
    struct relation r = x->co;
    unite(&r, &x->fr);
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++)
            if ((in(&x->rf, a, b) && x->e[a].thread != x->e[b].thread) ||
                (in(&x->po, a, b) && keeps_order(x, a, b, is_pso)))
                relate(&r, a, b);
    return is_coherent(x) && is_acyclic(r, x->n);
}

/* ---- RC11 ---- */

static bool is_atomic_access(const struct event *e)
{
    return e->access && e->order >= DH_ORDER_RELAXED;
}

static bool acquires(const struct event *e)
{
    return e->order == DH_ORDER_ACQUIRE || e->order >= DH_ORDER_ACQ_REL;
}

static bool releases(const struct event *e)
{
    return e->order >= DH_ORDER_RELEASE;
}

/* Synchronisation of a write with a read that takes from its release sequence, each with a fence perhaps. */
static void synchronise(const struct execution *x, unsigned write, unsigned read, struct relation *sw)
{
    for (unsigned a = 0; a < x->n; a++) {
        bool from = (a == write && releases(&x->e[a])) ||
                    (x->e[a].access == FENCE && releases(&x->e[a]) && in(&x->po, a, write));
        for (unsigned b = 0; from && b < x->n; b++)
            if ((b == read && acquires(&x->e[b])) ||
                (x->e[b].access == FENCE && acquires(&x->e[b]) && in(&x->po, read, b)))
                relate(sw, a, b);
    }
}

/* `e` up to n, `source` and `po` are enough. */
static struct relation happens_before(const struct execution *x)
{
    struct relation hb = x->po;
    for (unsigned r = 0; r < x->n; r++) {
        if (!(x->e[r].access & READS) || !is_atomic_access(&x->e[r]))
            continue;
        for (int w = x->source[r]; w >= 0;) {
            if (is_atomic_access(&x->e[w]))
                synchronise(x, (unsigned)w, r, &hb);
            w = x->e[w].access == (READS | WRITES) ? x->source[w] : -1;
        }
    }
    close_up(&hb, x->n);
    return hb;
}

static struct relation other_places(const struct execution *x)
{
    struct relation r = {0};
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++)
            if (in(&x->po, a, b) && !same_place(&x->e[a], &x->e[b]))
                relate(&r, a, b);
    return r;
}

static struct relation sc_before(const struct execution *x, const struct relation *hb)
{
    struct relation apart = other_places(x), scb = then(&apart, hb, x->n);
    scb = then(&scb, &apart, x->n);
    unite(&scb, &x->po);
    unite(&scb, &x->co);
    unite(&scb, &x->fr);
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++)
            if (in(hb, a, b) && same_place(&x->e[a], &x->e[b]))
                relate(&scb, a, b);
    return scb;
}

static bool is_sc_fence(const struct event *e)
{
    return e->access == FENCE && e->order == DH_ORDER_SEQ_CST;
}

static bool is_sc_access(const struct event *e)
{
    return e->access != FENCE && e->order == DH_ORDER_SEQ_CST;
}

static bool has_sc_order(const struct execution *x, const struct relation *hb, const struct relation *eco)
{
    unsigned n = x->n;
    struct relation left = {0}, right = {0}, scb = sc_before(x, hb), perhaps = maybe(*hb, n);
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = 0; b < n; b++) {
            if ((a == b && is_sc_access(&x->e[a])) || (is_sc_fence(&x->e[a]) && in(&perhaps, a, b)))
                relate(&left, a, b);
            if ((a == b && is_sc_access(&x->e[a])) || (is_sc_fence(&x->e[b]) && in(&perhaps, a, b)))
                relate(&right, a, b);
        }
    struct relation psc = then(&left, &scb, n);
    psc = then(&psc, &right, n);
    struct relation fences = then(hb, eco, n);
    fences = then(&fences, hb, n);
    unite(&fences, hb);
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = 0; b < n; b++)
            if (in(&fences, a, b) && is_sc_fence(&x->e[a]) && is_sc_fence(&x->e[b]))
                relate(&psc, a, b);
    return is_acyclic(psc, n);
}

static bool is_rc11(const struct execution *x)
{
    struct relation causes = x->po;
    unite(&causes, &x->rf);
    if (!is_acyclic(causes, x->n))
        return false;
    struct relation hb = happens_before(x), eco = x->rf;
    unite(&eco, &x->co);
    unite(&eco, &x->fr);
    close_up(&eco, x->n);
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++)
            if ((in(&hb, a, b) && (a == b || in(&eco, b, a))) || in(&eco, a, a)) /* an update reads before it writes */
                return false;
    return has_sc_order(x, &hb, &eco);
}

/* ---- runs of single threads with any values ---- */

struct thread_run {
    unsigned n;
    struct event e[LITMUS_OPS];
    uint8_t registers[LITMUS_REGISTERS];
};

struct runs {
    unsigned n;
    struct thread_run *at;
};

struct values {
    uint16_t of[PLACES]; /* sets of values */
};

static void note_value(struct values *v, unsigned place, unsigned value)
{
    if (value < VALUES)
        v->of[place] |= (uint16_t)(1u << value);
}

static void run_from(const struct litmus *l, unsigned t, unsigned i, struct thread_run *r, const struct values *v,
                     struct values *written, struct runs *out);

static void run_read(const struct litmus *l, unsigned t, unsigned i, const struct thread_run *r, const struct values *v,
                     struct values *written, struct runs *out, unsigned value)
{
    const struct litmus_op *o = &l->op[t][i];
    struct thread_run now = *r;
    struct event *e = &now.e[now.n++];
    *e = (struct event){.thread = (int8_t)t, .access = READS, .order = o->order, .place = o->variable};
    e->read = now.registers[o->to] = (uint8_t)value;
    if (o->kind == OP_CAS && value != o->wanted)
        e->order = o->order == DH_ORDER_ACQ_REL   ? DH_ORDER_ACQUIRE
                   : o->order == DH_ORDER_RELEASE ? DH_ORDER_RELAXED
                                                  : o->order;
    else if (o->kind != OP_LOAD) {
        e->access |= WRITES;
        e->written = (uint8_t)(o->value + (o->kind == OP_ADD ? value : 0));
        note_value(written, e->place, e->written);
    }
    run_from(l, t, i + 1, &now, v, written, out);
}

static void run_other(const struct litmus_op *o, unsigned t, struct thread_run *r, struct values *written)
{
    struct event *e = &r->e[r->n++];
    *e = (struct event){.thread = (int8_t)t, .access = WRITES, .order = o->order, .place = o->variable};
    if (o->kind == OP_FENCE) {
        e->access = FENCE;
    } else if (o->kind == OP_STORE) {
        e->written = (uint8_t)(o->value + (o->from >= 0 ? r->registers[o->from] : 0));
        note_value(written, e->place, e->written);
    } else {
        e->place = (uint8_t)(LITMUS_VARIABLES + o->variable);
        e->is_lock = true;
        e->access = o->kind == OP_LOCK ? READS | WRITES : WRITES;
        e->order = o->kind == OP_LOCK ? DH_ORDER_ACQUIRE : DH_ORDER_RELEASE;
        e->written = o->kind == OP_LOCK;
    }
}

static void run_from(const struct litmus *l, unsigned t, unsigned i, struct thread_run *r, const struct values *v,
                     struct values *written, struct runs *out)
{
    for (; i < l->n[t]; i++) {
        const struct litmus_op *o = &l->op[t][i];
        if (o->kind == OP_IF) {
            if (r->registers[o->to] != o->value)
                break;
        } else if (o->kind == OP_LOAD || o->kind == OP_ADD || o->kind == OP_SWAP || o->kind == OP_CAS) {
            for (unsigned value = 0; value < VALUES; value++)
                if (v->of[o->variable] >> value & 1)
                    run_read(l, t, i, r, v, written, out, value);
            return;
        } else {
            run_other(o, t, r, written);
        }
    }
    if (!out)
        return;
    if (out->n == RUNS) {
        fprintf(stderr, "oracle: too many runs\n");
        exit(1);
    }
    out->at[out->n++] = *r;
}

/* Every value that could be written, whoever would have to read what for that. */
static struct values all_values(const struct litmus *l)
{
    struct values v = {{1, 1, 1, 1, 1, 1}};
    unsigned rounds = 1;
    for (unsigned t = 0; t < l->threads; t++)
        for (unsigned i = 0; i < l->n[t]; i++)
            rounds += l->op[t][i].from >= 0 || l->op[t][i].kind == OP_ADD || l->op[t][i].kind == OP_CAS ||
                      l->op[t][i].kind == OP_IF;
    while (rounds--) {
        struct values more = v;
        for (unsigned t = 0; t < l->threads; t++)
            run_from(l, t, 0, &(struct thread_run){0}, &v, &more, NULL);
        v = more;
    }
    return v;
}

/* ---- all candidate executions ---- */

struct search {
    const struct litmus *l;
    struct outcomes *out;
    bool (*holds)(const struct execution *);
    struct execution x;
    struct runs runs[LITMUS_THREADS];
    const struct thread_run *chosen[LITMUS_THREADS];
    unsigned first_final;
};

static bool holds_tso(const struct execution *x)
{
    return is_buffered(x, false);
}

static bool holds_pso(const struct execution *x)
{
    return is_buffered(x, true);
}

static void judge(struct search *s)
{
    struct execution *x = &s->x;
    derive_fr(x);
    if (!is_atomic(x) || !s->holds(x))
        return;
    uint8_t registers[LITMUS_REGISTERS] = {0}, variables[LITMUS_VARIABLES] = {0};
    for (unsigned t = 0; t < s->l->threads; t++)
        for (unsigned i = 0; i < LITMUS_REGISTERS; i++)
            registers[i] |= s->chosen[t]->registers[i];
    for (unsigned i = s->first_final; i < x->n; i++)
        variables[x->e[i].place] = x->e[(unsigned)x->source[i]].written;
    outcomes_add(s->out, litmus_outcome(s->l, registers, variables));
}

/* Can it come next of those that are left? All models are coherent: the order is never against a thread's own; and an
 * update comes right behind what it read. */
static bool may_follow(const struct execution *x, uint32_t left, unsigned last, unsigned i)
{
    if (last == EVENTS ? x->e[i].thread >= 0 : (x->e[i].access & READS) && x->source[i] != (int)last)
        return false;
    for (unsigned k = 0; k < x->n; k++)
        if ((left >> k & 1) && in(&x->po, k, i))
            return false;
    return true;
}

/* Writes of one place after the other get their order; `done` are those that have it. */
static void order_writes(struct search *s, unsigned place, uint32_t done, unsigned last)
{
    struct execution *x = &s->x;
    uint32_t left = 0;
    if (place == PLACES) {
        judge(s);
        return;
    }
    for (unsigned i = 0; i < x->n; i++)
        if ((x->e[i].access & WRITES) && x->e[i].place == place && !(done >> i & 1))
            left |= UINT32_C(1) << i;
    if (!left) {
        order_writes(s, place + 1, 0, EVENTS);
        return;
    }
    for (unsigned i = 0; i < x->n; i++) {
        if (!(left >> i & 1) || !may_follow(x, left, last, i))
            continue;
        struct relation before = x->co;
        for (unsigned k = 0; k < x->n; k++)
            if (done >> k & 1)
                relate(&x->co, k, i);
        order_writes(s, place, done | UINT32_C(1) << i, i);
        x->co = before;
    }
}

static void choose_sources(struct search *s, unsigned i)
{
    struct execution *x = &s->x;
    while (i < x->n && !(x->e[i].access & READS))
        i++;
    if (i == x->n) {
        memset(&x->co, 0, sizeof x->co);
        order_writes(s, 0, 0, EVENTS);
        return;
    }
    for (unsigned w = 0; w < x->n; w++) {
        if (w == i || !(x->e[w].access & WRITES) || x->e[w].place != x->e[i].place)
            continue;
        if (!x->e[i].is_final && x->e[w].written != x->e[i].read)
            continue;
        struct relation before = x->rf;
        x->source[i] = (int8_t)w;
        relate(&x->rf, w, i);
        choose_sources(s, i + 1);
        x->rf = before;
    }
}

static void add_event(struct execution *x, struct event e)
{
    if (x->n == EVENTS) {
        fprintf(stderr, "oracle: too many events\n");
        exit(1);
    }
    x->e[x->n++] = e;
}

static void compose(struct search *s)
{
    struct execution *x = &s->x;
    memset(x, 0, sizeof *x);
    for (unsigned p = 0; p < PLACES; p++)
        add_event(x, (struct event){.thread = -1, .access = WRITES, .place = (uint8_t)p});
    for (unsigned t = 0; t < s->l->threads; t++)
        for (unsigned i = 0; i < s->chosen[t]->n; i++)
            add_event(x, s->chosen[t]->e[i]);
    s->first_final = x->n;
    for (unsigned v = 0; v < LITMUS_VARIABLES; v++)
        if (s->l->final[v])
            add_event(x,
                      (struct event){.thread = LITMUS_THREADS, .access = READS, .place = (uint8_t)v, .is_final = true});
    for (unsigned a = 0; a < x->n; a++)
        for (unsigned b = 0; b < x->n; b++) {
            bool initial = x->e[a].thread < 0 && x->e[b].thread >= 0, final = !x->e[a].is_final && x->e[b].is_final;
            if (initial || final || (a < b && x->e[a].thread == x->e[b].thread && x->e[a].thread >= 0))
                relate(&x->po, a, b);
        }
    choose_sources(s, 0);
}

static void choose_runs(struct search *s, unsigned t)
{
    if (t == s->l->threads) {
        compose(s);
        return;
    }
    for (unsigned i = 0; i < s->runs[t].n; i++) {
        s->chosen[t] = &s->runs[t].at[i];
        choose_runs(s, t + 1);
    }
}

/* A lock is an update that found 0; a run in which it found another value did not happen. */
void oracle_axiomatic(enum oracle_axioms axioms, const struct litmus *l, struct outcomes *out)
{
    static bool (*const holds[])(const struct execution *) = {is_sc, holds_tso, holds_pso, is_rc11};
    static struct search s;
    static struct thread_run room[LITMUS_THREADS][RUNS];
    struct values v = all_values(l), ignored = v;
    s.l = l;
    s.out = out;
    s.holds = holds[axioms];
    out->n = 0;
    for (unsigned t = 0; t < l->threads; t++) {
        s.runs[t] = (struct runs){.at = room[t]};
        run_from(l, t, 0, &(struct thread_run){0}, &v, &ignored, &s.runs[t]);
    }
    choose_runs(&s, 0);
}

/* ---- happens-before models: schedules and values, happens-before each time from scratch ---- */

/* A write that a run has shown: operation `index` of a thread. */
struct shown {
    uint8_t thread, index, place, value;
};

enum { SHOWN = 256 };

/* What hbmm has seen in runs that were justified; `n` 0: nothing is foreseen. */
struct foresight {
    bool is_on;
    unsigned n;
    struct shown at[SHOWN];
};

struct walk {
    const struct litmus *l;
    struct outcomes *out;
    struct foresight *future;
    uint8_t index[EVENTS];    /* operation of the event */
    int16_t promised[EVENTS]; /* of reads: which of the future + 1 */
    struct execution x;
    uint8_t registers[LITMUS_REGISTERS], variables[LITMUS_VARIABLES], next[LITMUS_THREADS];
    bool is_held[LITMUS_LOCKS];
};

static void walk_on(const struct walk *w);

static void order_event(struct walk *w)
{
    struct execution *x = &w->x;
    unsigned n = x->n - 1;
    for (unsigned a = 0; a < n; a++) {
        const struct event *e = &x->e[a], *new = &x->e[n];
        if (e->thread < 0 || e->thread == new->thread || new->is_final)
            relate(&x->po, a, n);
        else if (e->is_lock && new->is_lock && e->place == new->place &&
                 e->access == WRITES &&new->access == (READS | WRITES))
            relate(&x->po, a, n);
    }
    close_up(&x->po, x->n);
}

/* The event was put last; all that it may read. */
static void walk_read(const struct walk *w, const struct litmus_op *o)
{
    const struct execution *x = &w->x;
    unsigned r = x->n - 1, latest = 0;
    struct execution before = *x;
    before.source[r] = -1;
    struct relation hb = happens_before(&before);
    for (unsigned b = 0; b < r; b++)
        if ((x->e[b].access & WRITES) && x->e[b].place == x->e[r].place)
            latest = b;
    for (unsigned b = 0; b < r; b++) {
        if (!(x->e[b].access & WRITES) || x->e[b].place != x->e[r].place)
            continue;
        bool fails = o && o->kind == OP_CAS && x->e[b].written != o->wanted;
        bool updates = o && o->kind != OP_LOAD && !fails;
        if ((updates || x->e[r].order == DH_ORDER_SEQ_CST) && b != latest)
            continue;
        bool hidden = false;
        for (unsigned c = 0; c < r; c++)
            hidden |= (x->e[c].access & WRITES) && x->e[c].place == x->e[r].place && in(&hb, b, c) && in(&hb, c, r);
        if (hidden)
            continue;
        struct walk now = *w;
        struct event *e = &now.x.e[r];
        now.x.source[r] = (int8_t)b;
        e->read = x->e[b].written;
        if (o)
            now.registers[o->to] = e->read;
        else
            now.variables[e->place] = e->read;
        if (fails)
            e->order = o->order == DH_ORDER_ACQ_REL   ? DH_ORDER_ACQUIRE
                       : o->order == DH_ORDER_RELEASE ? DH_ORDER_RELAXED
                                                      : o->order;
        if (updates) {
            e->access |= WRITES;
            e->written = (uint8_t)(o->value + (o->kind == OP_ADD ? e->read : 0));
        }
        walk_on(&now);
    }
}

/* The read takes what a thread is yet to write. */
static void walk_future(const struct walk *w, const struct litmus_op *o)
{
    unsigned r = w->x.n - 1, n = w->future->n;
    for (unsigned i = 0; i < n && o->kind == OP_LOAD && o->order == DH_ORDER_NONE; i++) {
        const struct shown *s = &w->future->at[i];
        if (s->place != o->variable || s->thread == w->x.e[r].thread || s->index < w->next[s->thread])
            continue;
        struct walk now = *w;
        now.x.source[r] = -1;
        now.promised[r] = (int16_t)(i + 1);
        now.registers[o->to] = s->value;
        walk_on(&now);
    }
}

static void show(struct foresight *f, struct shown s)
{
    for (unsigned i = 0; i < f->n; i++)
        if (!memcmp(&f->at[i], &s, sizeof s))
            return;
    if (f->n == SHOWN) {
        fprintf(stderr, "oracle: too many writes\n");
        exit(1);
    }
    f->at[f->n++] = s;
}

static bool is_shown(const struct walk *w, unsigned event, const struct shown *s)
{
    const struct event *e = &w->x.e[event];
    return e->thread == s->thread && w->index[event] == s->index && (e->access & WRITES) && e->written == s->value;
}

static bool is_justified(const struct walk *w)
{
    struct relation hb = happens_before(&w->x);
    for (unsigned r = 0; r < w->x.n; r++) {
        bool is_kept = !w->promised[r];
        for (unsigned b = 0; !is_kept && b < w->x.n; b++)
            is_kept = is_shown(w, b, &w->future->at[w->promised[r] - 1]) && !in(&hb, r, b);
        if (!is_kept)
            return false;
    }
    for (unsigned b = 0; w->future->is_on && b < w->x.n; b++) {
        const struct event *e = &w->x.e[b];
        if (e->thread >= 0 && e->access == WRITES && !e->is_lock && e->order == DH_ORDER_NONE)
            show(w->future, (struct shown){(uint8_t)e->thread, w->index[b], e->place, e->written});
    }
    return true;
}

static void walk_thread(struct walk w, unsigned t)
{
    w.index[w.x.n] = w.next[t];
    const struct litmus_op *o = &w.l->op[t][w.next[t]++];
    struct event e = {.thread = (int8_t)t, .access = WRITES, .order = o->order, .place = o->variable};
    if (o->kind == OP_IF) {
        if (w.registers[o->to] != o->value)
            w.next[t] = (uint8_t)w.l->n[t];
        walk_on(&w);
        return;
    }
    bool reads = o->kind == OP_LOAD || o->kind == OP_ADD || o->kind == OP_SWAP || o->kind == OP_CAS;
    if (reads) {
        e.access = READS;
    } else if (o->kind == OP_STORE || o->kind == OP_FENCE) {
        e.access = o->kind == OP_STORE ? WRITES : FENCE;
        e.written = (uint8_t)(o->value + (o->from >= 0 ? w.registers[o->from] : 0));
    } else {
        e.is_lock = true;
        e.place = (uint8_t)(LITMUS_VARIABLES + o->variable);
        e.access = o->kind == OP_LOCK ? READS | WRITES : WRITES;
        e.order = DH_ORDER_NONE;
        w.is_held[o->variable] = o->kind == OP_LOCK;
    }
    add_event(&w.x, e);
    order_event(&w);
    if (!reads) {
        walk_on(&w);
        return;
    }
    walk_read(&w, o);
    walk_future(&w, o);
}

static void walk_final(struct walk w)
{
    for (unsigned v = 0; v < LITMUS_VARIABLES; v++) {
        bool seen = !w.l->final[v];
        for (unsigned i = 0; i < w.x.n; i++)
            seen |= w.x.e[i].is_final && w.x.e[i].place == v;
        if (seen)
            continue;
        add_event(&w.x,
                  (struct event){.thread = LITMUS_THREADS, .access = READS, .place = (uint8_t)v, .is_final = true});
        order_event(&w);
        walk_read(&w, NULL);
        return;
    }
    if (is_justified(&w))
        outcomes_add(w.out, litmus_outcome(w.l, w.registers, w.variables));
}

static void walk_on(const struct walk *w)
{
    bool ended = true;
    for (unsigned t = 0; t < w->l->threads; t++) {
        if (w->next[t] >= w->l->n[t])
            continue;
        const struct litmus_op *o = &w->l->op[t][w->next[t]];
        ended = false;
        if (o->kind != OP_LOCK || !w->is_held[o->variable])
            walk_thread(*w, t);
    }
    if (ended)
        walk_final(*w);
}

static void walk(const struct litmus *l, struct foresight *future, struct outcomes *out)
{
    static struct walk w;
    memset(&w, 0, sizeof w);
    w.l = l;
    w.out = out;
    w.future = future;
    out->n = 0;
    for (unsigned p = 0; p < LITMUS_VARIABLES; p++)
        add_event(&w.x, (struct event){.thread = -1, .access = WRITES, .place = (uint8_t)p});
    walk_on(&w);
}

void oracle_progressive(const struct litmus *l, struct outcomes *out)
{
    walk(l, &(struct foresight){.is_on = false}, out);
}

void oracle_hbmm(const struct litmus *l, struct outcomes *out)
{
    struct foresight future = {.is_on = true};
    unsigned before;
    do {
        before = future.n;
        walk(l, &future, out);
    } while (future.n != before);
}
