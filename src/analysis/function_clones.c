#include "analysis/function_clones.h"

#include "analysis/symex_internal.h"
#include "base/alloc.h"

#include <stdlib.h>

enum {
    VERSIONS = 3,            /* besides the original */
    ROUNDS = 12,             /* how far down the calls contexts are told apart */
    LOOP = 8,                /* what is done in a loop counts so often */
    SIZE_PER_GAIN = 24,      /* instructions that may be copied for an access saved */
    GROWTH = 4,              /* a part of this of the program, at most, is added ... */
    ALWAYS = 256,            /* ... and so many instructions, which is little */
    GAIN_MAX = 1 << 24,      /* beyond this it is all the same */
    SEEN_MAX = 16 * 1000000, /* more is not sorted */
};

struct access {
    uint32_t context, inst;
};

struct candidate {
    uint32_t function, size, gain;
    uint64_t key;
};

struct chooser {
    const struct dh_clone_query *q;
    struct dh_symex *w;
    const struct dh_program *p;
    uint32_t n_met, n; /* contexts that were walked; with those, one a function, in which nothing matters */
    DH_VEC(struct access) unsafe;
    DH_VEC(struct dh_context_call) calls;
    uint32_t *order;   /* contexts by function and key */
    uint64_t *own;     /* by context: which accesses of the function itself are not safe there, as a hash; 0 = none */
    uint64_t *key;     /* with those of callees */
    uint32_t *costs;   /* by context: what these weigh */
    uint32_t *worst;   /* by function: what all weigh that are not safe in some context */
    uint32_t *gain;    /* by context */
    uint8_t *version;  /* by context: to be called there, 0 = the original */
    uint8_t *met_in;   /* by context: versions that are called in it, as bits */
    uint8_t *target;   /* by call and version of the caller: 1 + version that is called, 0 = not met yet */
    uint32_t *numbers; /* by function and version: of the copy */
    DH_VEC(struct candidate) candidates;
};

/* Candidates of equal gain are chosen in the order of these: not base/hash.h, which may change. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
    return h ^ h >> 29;
}

static uint32_t function_of(const struct chooser *c, uint32_t context)
{
    return context < c->n_met ? c->w->contexts.at[context].function : context - c->n_met;
}

static uint32_t weight(const struct chooser *c, uint32_t inst)
{
    uint32_t block = dh_program_block_of(c->p, inst), f = dh_inst_function(c->p, block);
    return dh_cfg_in_any_loop(dh_symex_cfg(c->w, f), block - c->p->functions.at[f].block) ? LOOP : 1;
}

static bool is_open(const struct chooser *c, uint32_t function)
{
    return c->q->open[function] && c->p->functions.at[function].n_blocks;
}

/* ---- what is not safe where ---- */

static int by_context(const void *a, const void *b)
{
    const struct access *p = a, *q = b;
    if (p->context != q->context)
        return p->context < q->context ? -1 : 1;
    return (p->inst > q->inst) - (p->inst < q->inst);
}

static void find_unsafe(struct chooser *c)
{
    for (size_t n = 0; n < c->w->event_contexts.n; n++) {
        struct dh_event_context s = c->w->event_contexts.at[n];
        if (c->q->racy[s.event] && s.context < c->n_met)
            dh_vec_push(&c->unsafe, (struct access){s.context, c->w->events.at[s.event].inst});
    }
    if (c->unsafe.n)
        qsort(c->unsafe.at, c->unsafe.n, sizeof *c->unsafe.at, by_context);
    uint8_t *counted = dh_xcalloc(c->p->insts.n + 1, 1);
    for (size_t n = 0; n < c->unsafe.n; n++) {
        struct access a = c->unsafe.at[n];
        if (n && by_context(&c->unsafe.at[n - 1], &a) == 0)
            continue;
        uint32_t w = weight(c, a.inst);
        c->own[a.context] += mix(a.inst, 1);
        c->costs[a.context] += w;
        c->worst[function_of(c, a.context)] += counted[a.inst] ? 0 : w;
        counted[a.inst] = 1;
    }
    free(counted);
}

/* Code nobody knows is one more context, in which all of it is to be checked. */
static bool find_open(struct chooser *c)
{
    bool any = false;
    for (uint32_t n = 0; n < c->p->functions.n; n++) {
        const struct dh_function *f = &c->p->functions.at[n];
        if (!is_open(c, n))
            continue;
        any = true;
        c->worst[n] = 0;
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
            for (uint32_t i = c->p->blocks.at[b].inst; i < c->p->blocks.at[b].inst + c->p->blocks.at[b].n_insts; i++)
                c->worst[n] += c->q->accesses[i] ? weight(c, i) : 0;
    }
    return any;
}

static int by_call(const void *a, const void *b)
{
    const struct dh_context_call *p = a, *q = b;
    if (p->context != q->context)
        return p->context < q->context ? -1 : 1;
    if (p->call != q->call)
        return p->call < q->call ? -1 : 1;
    return (p->callee > q->callee) - (p->callee < q->callee);
}

/* What is called where nothing matters, calls on where nothing matters. */
static void follow_unmet(struct chooser *c, uint32_t function, uint8_t *done)
{
    const struct dh_function *f = &c->p->functions.at[function];
    const struct dh_call_graph *calls = &c->w->points_to->calls;
    for (uint32_t b = f->block; b < f->block + f->n_blocks && !done[function]; b++)
        for (uint32_t i = c->p->blocks.at[b].inst; i < c->p->blocks.at[b].inst + c->p->blocks.at[b].n_insts; i++) {
            if (c->p->insts.at[i].op != DH_I_CALL)
                continue;
            for (uint32_t it = dh_call_graph_first(calls, i), to; dh_call_graph_next(calls, i, &it, &to);)
                dh_vec_push(&c->calls, (struct dh_context_call){c->n_met + function, i, to, c->n_met + to});
        }
    done[function] = 1;
}

static void find_calls(struct chooser *c)
{
    uint8_t *done = dh_xcalloc(c->p->functions.n + 1, 1);
    for (size_t n = 0; n < c->w->context_calls.n; n++) {
        struct dh_context_call f = c->w->context_calls.at[n];
        f.callee = f.callee == DH_NONE ? c->n_met + f.function : f.callee;
        dh_vec_push(&c->calls, f);
    }
    for (size_t n = 0; n < c->calls.n; n++) { /* which grows */
        struct dh_context_call f = c->calls.at[n];
        if (f.callee >= c->n_met && !done[f.function])
            follow_unmet(c, f.function, done);
    }
    free(done);
    if (c->calls.n)
        qsort(c->calls.at, c->calls.n, sizeof *c->calls.at, by_call);
}

/* ---- what differs ---- */

/* Keys of callees one call further down. The same set of accesses that are not safe, down there, is the same key. */
static void refine(struct chooser *c, uint64_t *next)
{
    memcpy(next, c->own, c->n * sizeof *next);
    for (size_t n = 0; n < c->calls.n; n++) {
        struct dh_context_call f = c->calls.at[n];
        if ((n && by_call(&c->calls.at[n - 1], &f) == 0) || !c->key[f.callee])
            continue;
        next[f.context] += mix(f.call, c->key[f.callee]);
    }
    memcpy(c->key, next, c->n * sizeof *next);
}

static void add_gain(struct chooser *c, uint32_t *next, struct dh_context_call call, uint32_t least)
{
    uint64_t more = next[call.context] + (uint64_t)least * weight(c, call.call);
    next[call.context] = more > GAIN_MAX ? GAIN_MAX : (uint32_t)more;
}

/* What is saved in a context by a version of its own, with callees. */
static void estimate(struct chooser *c, uint32_t *next)
{
    for (uint32_t n = 0; n < c->n; n++)
        next[n] = c->worst[function_of(c, n)] - c->costs[n];
    uint32_t least = 0;
    for (size_t n = 0; n < c->calls.n; n++) {
        struct dh_context_call f = c->calls.at[n];
        bool first = !n || c->calls.at[n - 1].context != f.context || c->calls.at[n - 1].call != f.call;
        bool last = n + 1 == c->calls.n || c->calls.at[n + 1].context != f.context || c->calls.at[n + 1].call != f.call;
        least = first || c->gain[f.callee] < least ? c->gain[f.callee] : least;
        if (last && least)
            add_gain(c, next, f, least);
    }
    memcpy(c->gain, next, c->n * sizeof *next);
}

static void compare(struct chooser *c)
{
    uint64_t *keys = dh_xcalloc(c->n + 1, sizeof *keys);
    uint32_t *gains = dh_xcalloc(c->n + 1, sizeof *gains);
    for (unsigned round = 0; round < ROUNDS; round++) {
        refine(c, keys);
        estimate(c, gains);
    }
    free(keys);
    free(gains);
}

/* ---- which pay ---- */

static int by_function(const void *a, const void *b, void *arg)
{
    const struct chooser *c = arg;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b, f = function_of(c, p), g = function_of(c, q);
    if (f != g)
        return f < g ? -1 : 1;
    if (c->key[p] != c->key[q])
        return c->key[p] < c->key[q] ? -1 : 1;
    return (p > q) - (p < q);
}

static uint32_t size_of(const struct dh_program *p, uint32_t function)
{
    const struct dh_function *f = &p->functions.at[function];
    uint32_t n = 0;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        n += p->blocks.at[b].n_insts;
    return n;
}

static void consider(struct chooser *c, uint32_t first, uint32_t end)
{
    uint32_t f = function_of(c, c->order[first]), gain = GAIN_MAX, size = size_of(c->p, f);
    for (uint32_t n = first; n < end; n++)
        gain = c->gain[c->order[n]] < gain ? c->gain[c->order[n]] : gain;
    if (gain && c->q->copyable[f] && (uint64_t)gain * SIZE_PER_GAIN >= size)
        dh_vec_push(&c->candidates, (struct candidate){f, size, gain, c->key[c->order[first]]});
}

static void group(struct chooser *c)
{
    uint32_t n_order = 0;
    uint8_t *met = dh_xcalloc(c->n + 1, 1);
    for (size_t n = 0; n < c->calls.n; n++)
        met[c->calls.at[n].callee] = 1;
    for (uint32_t n = 0; n < c->n; n++)
        if (met[n])
            c->order[n_order++] = n;
    free(met);
    qsort_r(c->order, n_order, sizeof *c->order, by_function, c);
    for (uint32_t first = 0, end; first < n_order; first = end) {
        uint32_t f = function_of(c, c->order[first]);
        for (end = first + 1;
             end < n_order && function_of(c, c->order[end]) == f && c->key[c->order[end]] == c->key[c->order[first]];)
            end++;
        bool same = (!first || function_of(c, c->order[first - 1]) != f) &&
                    (end == n_order || function_of(c, c->order[end]) != f);
        if (!same || is_open(c, f)) /* else the original will do */
            consider(c, first, end);
    }
}

static int by_gain(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;
    uint64_t one = (uint64_t)p->gain * (q->size + 1), other = (uint64_t)q->gain * (p->size + 1);
    if (one != other)
        return one > other ? -1 : 1;
    return p->function != q->function ? (p->function > q->function) - (p->function < q->function)
                                      : (p->key > q->key) - (p->key < q->key);
}

static void give_version(struct chooser *c, const struct candidate *k, uint8_t version)
{
    for (uint32_t n = 0; n < c->n; n++)
        if (function_of(c, n) == k->function && c->key[n] == k->key)
            c->version[n] = version;
}

static void afford(struct chooser *c)
{
    uint32_t left = c->p->insts.n / GROWTH + ALWAYS, n = 0;
    uint8_t *versions = dh_xcalloc(c->p->functions.n + 1, 1);
    if (c->candidates.n)
        qsort(c->candidates.at, c->candidates.n, sizeof *c->candidates.at, by_gain);
    for (size_t k = 0; k < c->candidates.n && n < DH_CLONES_MAX; k++) {
        const struct candidate *one = &c->candidates.at[k];
        if (one->size > left || versions[one->function] == VERSIONS)
            continue;
        left -= one->size;
        give_version(c, one, ++versions[one->function]);
        n++;
    }
    free(versions);
}

/* ---- who calls which ---- */

static bool is_direct(const struct chooser *c, const struct dh_context_call *f)
{
    const struct dh_inst *i = &c->p->insts.at[f->call];
    return i->op == DH_I_CALL && i->site != DH_NONE && i->site >= c->q->first_call &&
           dh_value_function(c->p, dh_operand(c->p, i, 0)) == f->function;
}

static uint8_t *target_of(struct chooser *c, uint32_t call, unsigned version)
{
    return &c->target[(size_t)call * (VERSIONS + 1) + version];
}

/* A call that leads to contexts of several versions leads to the original. */
static uint8_t agree(const struct chooser *c, uint8_t one, uint8_t other)
{
    return !c->q->reckless ? 1 : one > other ? one : other;
}

static bool spread(struct chooser *c, bool settled)
{
    bool moved = false;
    for (size_t n = 0; n < c->calls.n; n++) {
        const struct dh_context_call *f = &c->calls.at[n];
        for (unsigned v = 0; v <= VERSIONS; v++) {
            uint8_t *to = target_of(c, f->call, v), was = *to;
            if (!(c->met_in[f->context] >> v & 1))
                continue;
            uint8_t wanted = (uint8_t)(1 + (is_direct(c, f) ? c->version[f->callee] : 0));
            if (!settled)
                *to = !was ? wanted : was == wanted ? was : agree(c, was, wanted);
            uint8_t bit = (uint8_t)(1u << (*to - 1));
            moved |= *to != was || !(c->met_in[f->callee] & bit);
            c->met_in[f->callee] |= bit;
        }
    }
    return moved;
}

static void begin_versions(struct chooser *c)
{
    memset(c->met_in, 0, c->n);
    for (uint32_t n = 0; n < c->n_met; n++)
        if (c->w->contexts.at[n].caller == DH_NONE)
            c->met_in[n] = 1;
}

static void settle(struct chooser *c)
{
    for (unsigned settled = 0; settled < 2; settled++) { /* the second time, what nobody calls any more is gone */
        begin_versions(c);
        while (spread(c, settled))
            ;
    }
}

static uint32_t *number_of(struct chooser *c, uint32_t function, unsigned version)
{
    return &c->numbers[(size_t)function * (VERSIONS + 1) + version];
}

static void number_copies(struct chooser *c, struct dh_function_clones *s)
{
    for (uint32_t n = 0; n < c->n; n++)
        for (unsigned v = 1; v <= VERSIONS; v++) {
            uint32_t f = function_of(c, n), *number = number_of(c, f, v);
            if (!(c->met_in[n] >> v & 1) || *number)
                continue;
            dh_vec_push(&s->copies, f);
            *number = (uint32_t)s->copies.n;
        }
}

static void number_calls(struct chooser *c, struct dh_function_clones *s)
{
    uint8_t *done = dh_xcalloc((size_t)c->p->insts.n * (VERSIONS + 1) + 1, 1);
    for (size_t n = 0; n < c->calls.n; n++) {
        const struct dh_context_call *f = &c->calls.at[n];
        for (unsigned v = 0; v <= VERSIONS; v++) {
            uint8_t to = *target_of(c, f->call, v), *seen = &done[(size_t)f->call * (VERSIONS + 1) + v];
            if (!(c->met_in[f->context] >> v & 1) || to <= 1 || *seen)
                continue;
            *seen = 1;
            uint32_t caller = function_of(c, f->context);
            struct dh_clone_redirect r = {*number_of(c, caller, v), c->p->insts.at[f->call].site,
                                          *number_of(c, f->function, to - 1u)};
            dh_vec_push(&s->redirects, r);
        }
    }
    free(done);
}

/* ---- all ---- */

static void start(struct chooser *c)
{
    size_t functions = c->p->functions.n;
    c->order = dh_xcalloc(c->n + 1, sizeof *c->order);
    c->own = dh_xcalloc(c->n + 1, sizeof *c->own);
    c->key = dh_xcalloc(c->n + 1, sizeof *c->key);
    c->costs = dh_xcalloc(c->n + 1, sizeof *c->costs);
    c->gain = dh_xcalloc(c->n + 1, sizeof *c->gain);
    c->version = dh_xcalloc(c->n + 1, 1);
    c->met_in = dh_xcalloc(c->n + 1, 1);
    c->worst = dh_xcalloc(functions + 1, sizeof *c->worst);
    c->target = dh_xcalloc((size_t)c->p->insts.n * (VERSIONS + 1) + 1, 1);
    c->numbers = dh_xcalloc(functions * (VERSIONS + 1) + 1, sizeof *c->numbers);
}

static void finish(struct chooser *c)
{
    void *all[] = {c->order, c->own, c->key, c->costs, c->gain, c->version, c->met_in, c->worst, c->target, c->numbers};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        free(all[n]);
    dh_vec_release(&c->unsafe);
    dh_vec_release(&c->calls);
    dh_vec_release(&c->candidates);
}

void dh_function_clones_choose(struct dh_function_clones *s, const struct dh_clone_query *q)
{
    struct dh_symex *w = q->symex;
    struct chooser c = {.q = q, .w = w, .p = w->program, .n_met = (uint32_t)w->contexts.n};
    if (w->event_contexts.n > SEEN_MAX || w->context_calls.n > SEEN_MAX)
        return;
    c.n = c.n_met + c.p->functions.n;
    start(&c);
    find_unsafe(&c);
    bool any = find_open(&c);
    if (any || c.unsafe.n) {
        find_calls(&c);
        compare(&c);
        group(&c);
        afford(&c);
        settle(&c);
        number_copies(&c, s);
        number_calls(&c, s);
    }
    finish(&c);
}

void dh_function_clones_release(struct dh_function_clones *s)
{
    dh_vec_release(&s->copies);
    dh_vec_release(&s->redirects);
}
