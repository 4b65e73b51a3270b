#include "memory_litmus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static const char order_name[][4] = {"", "rlx", "acq", "rel", "ar", "sc"};
static const char variable_name[] = "wxyz";

static const char *at;

static void fail(const char *why)
{
    fprintf(stderr, "litmus: %s at \"%s\"\n", why, at);
    exit(1);
}

static void blanks(void)
{
    while (*at == ' ')
        at++;
}

static bool word(const char *w)
{
    blanks();
    if (strncmp(at, w, strlen(w)))
        return false;
    at += strlen(w);
    return true;
}

static uint8_t order(void)
{
    if (!word("."))
        return DH_ORDER_NONE;
    for (unsigned i = 1; i < 6; i++)
        if (word(order_name[i]))
            return (uint8_t)i;
    fail("no such order");
    return 0;
}

static int variable(void)
{
    blanks();
    const char *v = *at ? strchr(variable_name, *at) : NULL;
    if (!v)
        return -1;
    at++;
    return (int)(v - variable_name);
}

static int reg(void)
{
    blanks();
    return *at >= 'a' && *at <= 'j' ? *at++ - 'a' : -1;
}

static uint8_t number(void)
{
    blanks();
    if (!isdigit((unsigned char)*at))
        fail("no number");
    return (uint8_t)(*at++ - '0');
}

static void parse_store(struct litmus_op *o)
{
    o->kind = OP_STORE;
    o->from = (int8_t)reg();
    o->value = o->from < 0 || word("+") ? number() : 0;
}

static void parse_read(struct litmus_op *o)
{
    int v = variable();
    if (v < 0)
        fail("no variable");
    o->variable = (uint8_t)v;
    if (word("+=")) {
        o->kind = OP_ADD;
        o->value = number();
    } else if (word(":=")) {
        o->kind = OP_SWAP;
        o->value = number();
    } else if (word("?")) {
        o->kind = OP_CAS;
        o->wanted = number();
        if (!word(":"))
            fail("no colon");
        o->value = number();
    } else {
        o->kind = OP_LOAD;
    }
}

static void parse_op(struct litmus *l, struct litmus_op *o)
{
    o->from = -1;
    bool unlocks = word("unlock");
    if (unlocks || word("lock")) {
        o->kind = unlocks ? OP_UNLOCK : OP_LOCK;
        o->variable = word("2");
        return;
    }
    if (word("F")) {
        o->kind = OP_FENCE;
        o->order = order();
        return;
    }
    int v = variable();
    int r = v < 0 ? reg() : -1;
    if (v < 0 && r < 0)
        fail("no operation");
    o->variable = (uint8_t)v;
    o->to = (uint8_t)r;
    if (v < 0 && word("==")) {
        o->kind = OP_IF;
        o->value = number();
        if (!word("?"))
            fail("no question");
        return;
    }
    if (!word("="))
        fail("no equals");
    if (v >= 0)
        parse_store(o);
    else {
        parse_read(o);
        l->register_used[r] = true;
    }
    o->order = order();
}

void litmus_parse(struct litmus *l, const char *text, const char *final)
{
    *l = (struct litmus){.threads = 1};
    for (; final && *final; final++)
        l->final[strchr(variable_name, *final) - variable_name] = true;
    at = text;
    for (blanks(); *at; blanks()) {
        unsigned t = l->threads - 1;
        if (l->n[t] == LITMUS_OPS)
            fail("too long");
        parse_op(l, &l->op[t][l->n[t]++]);
        blanks();
        if (word("|"))
            l->threads++;
        else if (!word(";") && *at)
            fail("no end of operation");
        if (l->threads > LITMUS_THREADS)
            fail("too many threads");
    }
}

static int print_op(const struct litmus_op *o, char *out, size_t size)
{
    const char *dot = o->order ? "." : "", *suffix = order_name[o->order];
    char v = variable_name[o->variable % 4], r = (char)('a' + o->to);
    switch (o->kind) {
    case OP_LOAD:
        return snprintf(out, size, "%c=%c%s%s", r, v, dot, suffix);
    case OP_STORE:
        if (o->from >= 0)
            return snprintf(out, size, "%c=%c+%d%s%s", v, 'a' + o->from, o->value, dot, suffix);
        return snprintf(out, size, "%c=%d%s%s", v, o->value, dot, suffix);
    case OP_ADD:
        return snprintf(out, size, "%c=%c+=%d%s%s", r, v, o->value, dot, suffix);
    case OP_SWAP:
        return snprintf(out, size, "%c=%c:=%d%s%s", r, v, o->value, dot, suffix);
    case OP_CAS:
        return snprintf(out, size, "%c=%c?%d:%d%s%s", r, v, o->wanted, o->value, dot, suffix);
    case OP_FENCE:
        return snprintf(out, size, "F.%s", suffix);
    case OP_IF:
        return snprintf(out, size, "%c==%d?", r, o->value);
    default:
        return snprintf(out, size, "%slock%s", o->kind == OP_LOCK ? "" : "un", o->variable ? "2" : "");
    }
}

void litmus_print(const struct litmus *l, char *out, size_t size)
{
    size_t n = 0;
    for (unsigned t = 0; t < l->threads; t++) {
        for (unsigned i = 0; i < l->n[t] && n + 40 < size; i++) {
            n += (size_t)print_op(&l->op[t][i], out + n, size - n);
            n += (size_t)snprintf(out + n, size - n, "%s", i + 1 < l->n[t] ? "; " : "");
        }
        n += (size_t)snprintf(out + n, size - n, "%s", t + 1 < l->threads ? " | " : "");
    }
}

/* ---- outcomes ---- */

static unsigned place_of(const struct outcomes *o, uint64_t outcome)
{
    unsigned low = 0, high = o->n;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (o->at[middle] < outcome)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool outcomes_has(const struct outcomes *o, uint64_t outcome)
{
    unsigned i = place_of(o, outcome);
    return i < o->n && o->at[i] == outcome;
}

void outcomes_add(struct outcomes *o, uint64_t outcome)
{
    unsigned i = place_of(o, outcome);
    if (i < o->n && o->at[i] == outcome)
        return;
    if (o->n == sizeof o->at / sizeof *o->at) {
        fprintf(stderr, "litmus: too many outcomes\n");
        exit(1);
    }
    memmove(o->at + i + 1, o->at + i, (o->n++ - i) * sizeof *o->at);
    o->at[i] = outcome;
}

bool outcomes_within(const struct outcomes *a, const struct outcomes *b)
{
    for (unsigned i = 0; i < a->n; i++)
        if (!outcomes_has(b, a->at[i]))
            return false;
    return true;
}

bool outcomes_equal(const struct outcomes *a, const struct outcomes *b)
{
    return a->n == b->n && outcomes_within(a, b);
}

static unsigned digits_of(const struct litmus *l)
{
    unsigned n = 0;
    for (unsigned i = 0; i < LITMUS_REGISTERS; i++)
        n += l->register_used[i];
    for (unsigned i = 0; i < LITMUS_VARIABLES; i++)
        n += l->final[i];
    return n;
}

void outcomes_print(const struct litmus *l, const struct outcomes *o, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (unsigned i = 0; i < o->n && n + 20 < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%0*llx ", (int)digits_of(l), (unsigned long long)o->at[i]);
}

void outcomes_parse(struct outcomes *o, const char *text)
{
    o->n = 0;
    for (char *end; *text; text = end) {
        unsigned long long value = strtoull(text, &end, 16);
        if (end == text)
            break;
        outcomes_add(o, value);
    }
}

uint64_t litmus_outcome(const struct litmus *l, const uint8_t *registers, const uint8_t *variables)
{
    uint64_t outcome = 0;
    for (unsigned i = 0; i < LITMUS_REGISTERS; i++)
        if (l->register_used[i])
            outcome = outcome << 4 | (registers[i] & 15);
    for (unsigned i = 0; i < LITMUS_VARIABLES; i++)
        if (l->final[i])
            outcome = outcome << 4 | (variables[i] & 15);
    return outcome;
}

/* ---- everything the model allows ---- */

enum { MAIN = 0, DEEP = 64, ADDRESS = 0x1000, STEPS = 32 };

/* What a restore must bring back beside the model. */
struct world {
    uint64_t memory[LITMUS_VARIABLES];
    uint8_t registers[LITMUS_REGISTERS], variables[LITMUS_VARIABLES];
    uint8_t next[LITMUS_THREADS]; /* operation */
    uint8_t holder[LITMUS_LOCKS]; /* thread + 1 */
    uint32_t clock[LITMUS_THREADS + 1][LITMUS_THREADS + 1], lock[LITMUS_LOCKS][LITMUS_THREADS + 1];
};

struct explorer {
    struct litmus_run *run;
    const struct litmus *l;
    const struct dh_memory_model *model;
    void *self;
    struct dh_memory memory;
    struct world w;
    struct outcomes *out;
    void *saved[DEEP];
    size_t room[DEEP];
    struct world before[DEEP];
};

static void *allocate(struct dh_memory *m, size_t size)
{
    (void)m;
    return calloc(1, size); /* for the life of the test */
}

static uint64_t peek(struct dh_memory *m, uint64_t address, unsigned size)
{
    (void)size;
    return ((struct explorer *)m->host)->w.memory[(address - ADDRESS) / 8];
}

static void poke(struct dh_memory *m, uint64_t address, unsigned size, uint64_t value)
{
    (void)size;
    ((struct explorer *)m->host)->w.memory[(address - ADDRESS) / 8] = value;
}

static void save(struct explorer *e, unsigned depth)
{
    size_t size = e->model->snapshot_size(e->self);
    if (depth >= DEEP) {
        fprintf(stderr, "litmus: too deep\n");
        exit(1);
    }
    if (size > e->room[depth]) {
        free(e->saved[depth]);
        e->saved[depth] = malloc(e->room[depth] = 2 * size);
    }
    e->model->snapshot(e->self, e->saved[depth]);
    e->before[depth] = e->w;
}

static void back(struct explorer *e, unsigned depth)
{
    e->model->restore(e->self, e->saved[depth]);
    e->w = e->before[depth];
}

static void explore(struct explorer *e, unsigned depth);

/* The occurrence is the number of the operation: each is executed once. */
static struct dh_memory_access access_of(struct explorer *e, unsigned thread, unsigned index, const struct litmus_op *o)
{
    return (struct dh_memory_access){.thread = thread + 1,
                                     .site = thread * LITMUS_OPS + index,
                                     .size = 8,
                                     .order = o->order,
                                     .updates = o->kind == OP_ADD || o->kind == OP_SWAP || o->kind == OP_CAS,
                                     .address = ADDRESS + 8 * o->variable,
                                     .clock = e->run->external_clocks ? e->w.clock[thread + 1] : NULL,
                                     .clocks = LITMUS_THREADS + 1};
}

static enum dh_order failure_order(unsigned order)
{
    return order == DH_ORDER_ACQ_REL ? DH_ORDER_ACQUIRE : order == DH_ORDER_RELEASE ? DH_ORDER_RELAXED : order;
}

static void read_one(struct explorer *e, const struct litmus_op *o, struct dh_memory_access *a,
                     const struct dh_candidate *c)
{
    e->w.registers[o->to] = (uint8_t)c->value;
    bool fails = o->kind == OP_CAS && c->value != o->wanted;
    if (fails) {
        a->updates = false;
        a->order = (uint8_t)failure_order(o->order);
    }
    if (a->updates)
        e->model->update(e->self, a, c->index, o->kind == OP_ADD ? c->value + o->value : o->value);
    else
        e->model->took(e->self, a, c->index);
}

/* Each of the values that a load may answer, and all that follows from it. */
static void explore_read(struct explorer *e, unsigned thread, unsigned index, const struct litmus_op *o, unsigned depth)
{
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    struct dh_memory_access a = access_of(e, thread, index, o);
    unsigned n = o->kind == OP_CAS ? dh_memory_compare_exchange(e->model, e->self, &a, o->wanted,
                                                                failure_order(o->order), list, DH_MEMORY_CANDIDATES)
                                   : e->model->load(e->self, &a, list, DH_MEMORY_CANDIDATES);
    save(e, depth);
    for (unsigned i = 0; i < n; i++) {
        if (i)
            back(e, depth);
        struct dh_memory_access again = a;
        read_one(e, o, &again, &list[i]);
        explore(e, depth + 1);
    }
}

static void join_clock(uint32_t *to, const uint32_t *from)
{
    for (unsigned i = 0; i <= LITMUS_THREADS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

static void lock(struct explorer *e, unsigned thread, unsigned m, bool takes)
{
    uint32_t *mine = e->w.clock[thread + 1];
    e->w.holder[m] = takes ? (uint8_t)(thread + 1) : 0;
    if (takes) {
        join_clock(mine, e->w.lock[m]);
        e->model->acquire(e->self, thread + 1, 100 + m);
        return;
    }
    join_clock(e->w.lock[m], mine);
    mine[thread + 1]++;
    e->model->release(e->self, thread + 1, 100 + m);
}

static void store(struct explorer *e, unsigned thread, unsigned index, const struct litmus_op *o)
{
    struct dh_memory_access a = access_of(e, thread, index, o);
    e->model->store(e->self, &a, o->value + (o->from >= 0 ? e->w.registers[o->from] : 0u));
}

static bool is_enabled(const struct explorer *e, unsigned thread)
{
    unsigned i = e->w.next[thread];
    if (i >= e->l->n[thread])
        return false;
    const struct litmus_op *o = &e->l->op[thread][i];
    return o->kind != OP_LOCK || !e->w.holder[o->variable];
}

static void explore_thread(struct explorer *e, unsigned thread, unsigned depth)
{
    unsigned index = e->w.next[thread]++;
    const struct litmus_op *o = &e->l->op[thread][index];
    switch (o->kind) {
    case OP_STORE:
        store(e, thread, index, o);
        break;
    case OP_FENCE:
        e->model->fence(e->self, thread + 1, o->order);
        break;
    case OP_LOCK:
    case OP_UNLOCK:
        lock(e, thread, o->variable, o->kind == OP_LOCK);
        break;
    case OP_IF:
        if (e->w.registers[o->to] != o->value)
            e->w.next[thread] = (uint8_t)e->l->n[thread];
        break;
    default:
        explore_read(e, thread, index, o, depth);
        return;
    }
    explore(e, depth);
}

/* All threads have ended: main, who knows them all, looks at what is left. */
static void explore_final(struct explorer *e, unsigned variable, unsigned depth)
{
    while (variable < LITMUS_VARIABLES && !e->l->final[variable])
        variable++;
    if (variable == LITMUS_VARIABLES) {
        e->run->runs++;
        if (!e->model->is_justified || e->model->is_justified(e->self))
            outcomes_add(e->out, litmus_outcome(e->l, e->w.registers, e->w.variables));
        return;
    }
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    struct dh_memory_access a = {.thread = MAIN,
                                 .site = 1000,
                                 .size = 8,
                                 .order = DH_ORDER_NONE,
                                 .address = ADDRESS + 8 * variable,
                                 .clock = e->run->external_clocks ? e->w.clock[MAIN] : NULL,
                                 .clocks = LITMUS_THREADS + 1};
    unsigned n = e->model->load(e->self, &a, list, DH_MEMORY_CANDIDATES);
    save(e, depth);
    for (unsigned i = 0; i < n; i++) {
        if (i)
            back(e, depth);
        e->w.variables[variable] = (uint8_t)list[i].value;
        e->model->took(e->self, &a, list[i].index);
        explore_final(e, variable + 1, depth + 1);
    }
}

static bool has_ended(const struct explorer *e)
{
    for (unsigned t = 0; t < e->l->threads; t++)
        if (e->w.next[t] < e->l->n[t])
            return false;
    return true;
}

static void finish(struct explorer *e, unsigned depth)
{
    if (!has_ended(e))
        return; /* threads that wait for locks for ever have no outcome */
    save(e, depth);
    for (unsigned t = 0; t < e->l->threads; t++) {
        join_clock(e->w.clock[MAIN], e->w.clock[t + 1]);
        e->model->join(e->self, MAIN, t + 1);
    }
    explore_final(e, 0, depth + 1);
}

static void explore(struct explorer *e, unsigned depth)
{
    struct dh_memory_drain steps[STEPS];
    unsigned n = e->model->enabled_steps ? e->model->enabled_steps(e->self, steps, STEPS) : 0, ways = n;
    for (unsigned t = 0; t < e->l->threads; t++)
        ways += is_enabled(e, t);
    if (!ways) {
        finish(e, depth);
        return;
    }
    save(e, depth);
    for (unsigned i = 0; i < n; i++) {
        e->model->step(e->self, &steps[i]);
        explore(e, depth + 1);
        back(e, depth);
    }
    for (unsigned t = 0; t < e->l->threads; t++)
        if (is_enabled(e, t)) {
            explore_thread(e, t, depth + 1);
            back(e, depth);
        }
}

static void begin(struct explorer *e)
{
    memset(&e->w, 0, sizeof e->w);
    e->model->begin(e->self);
    for (unsigned t = 0; t <= LITMUS_THREADS; t++)
        e->w.clock[t][t] = 1;
    for (unsigned t = 1; t <= e->l->threads; t++) {
        join_clock(e->w.clock[t], e->w.clock[MAIN]);
        e->w.clock[MAIN][MAIN]++;
        e->model->fork(e->self, MAIN, t);
    }
}

void litmus_explore(struct litmus_run *run, const struct litmus *l, struct outcomes *out)
{
    static struct explorer e; /* models are kept: their memory is never given back */
    static void *kept[16][4];
    unsigned kind = (run->no_gc ? 1 : 0) | (run->external_clocks ? 2 : 0), which = 0;
    while (dh_memory_models[which] != run->model)
        which++;
    e.run = run;
    e.l = l;
    e.model = run->model;
    e.out = out;
    e.memory = (struct dh_memory){.threads = LITMUS_THREADS + 1,
                                  .history = run->history,
                                  .no_gc = run->no_gc,
                                  .external_clocks = run->external_clocks,
                                  .memory = allocate,
                                  .peek = peek,
                                  .poke = poke,
                                  .host = &e};
    bool keep = !run->history && !run->model->is_justified;
    e.self = keep ? kept[which][kind] : NULL;
    if (!e.self)
        e.self = run->model->start(&e.memory);
    if (keep)
        kept[which][kind] = e.self;
    out->n = 0;
    uint64_t runs = 0, more = 0;
    do { /* what is foreseen makes more runs */
        runs = more;
        run->runs = 0;
        begin(&e);
        explore(&e, 0);
        more = run->runs;
    } while (run->model->is_justified && runs != more);
    run->lost = e.memory.lost;
}

/* ---- by chance ---- */

static unsigned pick(uint64_t *seed, unsigned n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % n;
}

struct writer {
    struct litmus *l;
    const struct litmus_taste *taste;
    uint64_t *seed;
    unsigned reg, thread, begin; /* first register of this thread */
};

static struct litmus_op *put(struct writer *w, unsigned kind)
{
    struct litmus *l = w->l;
    struct litmus_op *o = &l->op[w->thread][l->n[w->thread]++];
    const char *orders = w->taste->orders;
    *o = (struct litmus_op){.kind = (uint8_t)kind, .from = -1};
    o->variable = (uint8_t)(1 + pick(w->seed, w->taste->variables));
    o->order = (uint8_t)(orders[pick(w->seed, (unsigned)strlen(orders))] - '0');
    o->value = (uint8_t)(1 + pick(w->seed, 2));
    return o;
}

/* Loads do not release, stores do not acquire, and what updates is atomic. */
static void settle_order(struct litmus_op *o)
{
    if (o->kind == OP_LOAD && (o->order == DH_ORDER_RELEASE || o->order == DH_ORDER_ACQ_REL))
        o->order = DH_ORDER_ACQUIRE;
    if (o->kind == OP_STORE && (o->order == DH_ORDER_ACQUIRE || o->order == DH_ORDER_ACQ_REL))
        o->order = DH_ORDER_RELEASE;
    if (o->kind >= OP_ADD && o->kind <= OP_CAS && o->order == DH_ORDER_NONE)
        o->order = DH_ORDER_RELAXED;
    if (o->kind == OP_FENCE && o->order <= DH_ORDER_RELAXED)
        o->order = DH_ORDER_SEQ_CST;
}

static void put_read(struct writer *w, unsigned kind)
{
    struct litmus_op *o = put(w, kind);
    o->to = (uint8_t)w->reg++;
    w->l->register_used[o->to] = true;
    o->wanted = (uint8_t)pick(w->seed, 2);
    settle_order(o);
}

static void put_store(struct writer *w)
{
    struct litmus_op *o = put(w, OP_STORE);
    settle_order(o);
    if (w->taste->dependencies && w->reg > w->begin && pick(w->seed, 3) == 0) {
        o->from = (int8_t)(w->begin + pick(w->seed, w->reg - w->begin));
        o->value = 0;
    }
}

/* More would be too much for an enumeration. */
static bool may_read(const struct writer *w)
{
    return w->reg < LITMUS_REGISTERS && w->reg - w->begin < 3;
}

static void put_some(struct writer *w)
{
    const struct litmus_taste *taste = w->taste;
    unsigned kind = pick(w->seed, 10);
    if (kind == 0 && taste->fences)
        settle_order(put(w, OP_FENCE));
    else if (kind <= 2 && taste->updates && may_read(w))
        put_read(w, OP_ADD + pick(w->seed, 3));
    else if (kind == 3 && taste->dependencies && w->reg > w->begin) {
        struct litmus_op *o = put(w, OP_IF);
        o->to = (uint8_t)(w->begin + pick(w->seed, w->reg - w->begin));
        o->value = (uint8_t)pick(w->seed, 2);
        o->order = 0;
    } else if (kind <= 6 && may_read(w))
        put_read(w, OP_LOAD);
    else
        put_store(w);
}

static void put_section(struct writer *w)
{
    unsigned m = pick(w->seed, 2);
    struct litmus_op *o = put(w, OP_LOCK);
    o->variable = (uint8_t)m;
    o->order = 0;
    do {
        if (may_read(w) && pick(w->seed, 2))
            put_read(w, OP_LOAD);
        else
            put_store(w);
    } while (pick(w->seed, 3) == 0 && w->l->n[w->thread] < LITMUS_OPS - 1);
    o = put(w, OP_UNLOCK);
    o->variable = (uint8_t)m;
    o->order = 0;
}

void litmus_random(struct litmus *l, const struct litmus_taste *taste, uint64_t *seed)
{
    struct writer w = {.l = l, .taste = taste, .seed = seed};
    *l = (struct litmus){.threads = 2 + pick(seed, taste->threads - 1)};
    unsigned left = taste->ops;
    for (unsigned t = 0; t < l->threads; t++) {
        w.thread = t;
        w.begin = w.reg;
        unsigned most = left / (l->threads - t), n = 1 + pick(seed, most + 1);
        while (l->n[t] < n && l->n[t] < LITMUS_OPS)
            if (taste->locks && pick(seed, 4) == 0 && l->n[t] + 4 < LITMUS_OPS)
                put_section(&w);
            else
                put_some(&w);
        left = left > l->n[t] ? left - l->n[t] : 0;
    }
    for (unsigned v = 1; v <= taste->variables; v++)
        l->final[v] = pick(seed, 2);
}
