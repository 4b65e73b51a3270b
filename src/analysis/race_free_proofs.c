#include "analysis/race_free_proofs.h"

#include "analysis/interleavable.h"
#include "analysis/races.h"
#include "analysis/use_after_free.h"
#include "base/alloc.h"
#include "model/library_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENT(id) (1ull << DH_ARGUMENT_##id)

static uint64_t proofs(void)
{
    uint64_t all = 0;
    for (unsigned a = 0; a < DH_ARGUMENT_COUNT; a++)
        all |= (uint64_t)(dh_argument_kind(a) == DH_ARGUMENT_IS_PROOF) << a;
    return all;
}

enum mark {
    MARK_SEEN = 1 << 0,   /* a plain access of the model */
    MARK_OTHER = 1 << 1,  /* also something else, or in code that nothing seems to reach */
    MARK_SHARED = 1 << 2, /* of what several threads get at */
    MARK_RACY = 1 << 3,
    MARK_FREED = 1 << 4,      /* of what may have been freed */
    MARK_INTERLEAVED = 1 << 5 /* of what may be interleaved */
};

struct finder {
    struct dh_race_free *out;
    const struct dh_race_free_query *q;
    const struct dh_program *p;
    struct dh_points_to points_to;
    struct dh_symex symex;
    struct dh_conflicts conflicts;
    uint8_t *reached; /* by function */
    uint8_t *open;    /* by function: unknown code may call it, or what calls it */
    uint8_t *marks;   /* by site, of originals and of each copy */
    uint8_t *hazards; /* by instruction: enum dh_hazard */
    const uint8_t *elements;
};

static bool give_up(struct finder *f, const char *why, const char *what)
{
    snprintf(f->out->gave_up, sizeof f->out->gave_up, why, what);
    return false;
}

/* ---- what the analysis does not follow ---- */

static const char *name_of(const struct finder *f, uint32_t function)
{
    return dh_program_string(f->p, f->p->functions.at[function].name);
}

static bool is_open(const struct finder *f, uint32_t function)
{
    const struct dh_function *at = &f->p->functions.at[function];
    return at->flags & DH_FUNCTION_EXPORTED && at->n_blocks && strcmp(name_of(f, function), "main") != 0;
}

/* Others may call them, from threads of their own. */
static bool is_closed(struct finder *f)
{
    for (uint32_t n = 0; n < f->p->functions.n; n++)
        if (is_open(f, n) && !dh_library_is_copy(name_of(f, n)))
            return give_up(f, "others may call %s", name_of(f, n));
    for (uint32_t n = 0; n < f->p->globals.n; n++) {
        const struct dh_global *g = &f->p->globals.at[n];
        if (g->flags & DH_GLOBAL_EXPORTED && !(g->flags & (DH_GLOBAL_CONSTANT | DH_GLOBAL_EXTERNAL)))
            return give_up(f, "others may use %s", dh_program_string(f->p, g->name));
    }
    return true;
}

static bool is_modelled(struct finder *f)
{
    static const enum dh_limit limits[] = {DH_LIMIT_SETJMP, DH_LIMIT_BODY};
    for (size_t n = 0; n < sizeof limits / sizeof *limits; n++)
        if (f->p->limits[limits[n]])
            return give_up(f, "there are %s", dh_limit_text(limits[n]));
    return true;
}

static bool may_be_anything(struct finder *f, uint32_t node)
{
    return f->points_to.graph.nodes.at[node].flags & DH_NODE_EXPOSED;
}

/* A function that unknown code can call back, in any thread. */
static bool keeps_callbacks(struct finder *f)
{
    const struct dh_heap_graph *g = &f->points_to.graph;
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        uint32_t first = g->nodes.at[n].origin, at = first;
        if (g->nodes.at[n].parent != n || !may_be_anything(f, n) || first == DH_NO_NODE)
            continue;
        do {
            const struct dh_heap_origin *o = &g->origins.at[at];
            if (o->kind == DH_ORIGIN_FUNCTION && f->p->functions.at[o->index].n_blocks)
                return give_up(f, "a function that nobody knows may call %s", name_of(f, o->index));
            at = o->next;
        } while (at != first);
    }
    return true;
}

/* Calls of unknown functions. */
static bool knows_calls(struct finder *f)
{
    for (uint32_t b = 0; b < f->p->blocks.n; b++) {
        const struct dh_basic_block *block = &f->p->blocks.at[b];
        for (uint32_t n = block->inst; n < block->inst + block->n_insts; n++) {
            const struct dh_inst *i = &f->p->insts.at[n];
            uint32_t callee = dh_inst_callee_operand(i);
            if (callee == DH_NONE || callee >= i->n_operands || i->op == DH_I_FOREIGN)
                continue;
            dh_value v = dh_operand(f->p, i, callee);
            if (dh_value_function(f->p, v) != DH_NONE)
                continue;
            struct dh_heap_cell c = dh_points_to_value(&f->points_to, block->function, v);
            if (c.node == DH_NO_NODE || may_be_anything(f, c.node))
                return give_up(f, "%s calls what nobody knows", name_of(f, block->function));
        }
    }
    return true;
}

/* ---- reached code ---- */

/* `threads`: also what it starts. */
static void reach(struct finder *f, uint32_t function, bool threads)
{
    DH_VEC(uint32_t) todo = {0};
    dh_vec_push(&todo, function);
    while (todo.n) {
        uint32_t at = todo.at[--todo.n];
        const struct dh_function *fn = &f->p->functions.at[at];
        if (f->reached[at])
            continue;
        f->reached[at] = 1;
        for (uint32_t b = fn->block; b < fn->block + fn->n_blocks; b++)
            for (uint32_t i = f->p->blocks.at[b].inst; i < f->p->blocks.at[b].inst + f->p->blocks.at[b].n_insts; i++)
                for (uint32_t it = dh_call_graph_first(&f->points_to.calls, i), to;
                     dh_call_graph_next(&f->points_to.calls, i, &it, &to);)
                    if (threads || dh_inst_class(&f->p->insts.at[i]) == DH_CLASS_CALL)
                        dh_vec_push(&todo, to);
    }
    dh_vec_release(&todo);
}

/* ---- accesses ---- */

static bool is_plain(const struct dh_inst *i)
{
    bool access = i->op == DH_I_LOAD || i->op == DH_I_STORE || i->op == DH_I_MEMCPY || i->op == DH_I_MEMSET;
    return access && !i->order && !(i->flags & (DH_INST_VOLATILE | DH_INST_LIBRARY));
}

/* Of the sites of a function, which may be a copy. */
static uint8_t *marks_of(struct finder *f, uint32_t function)
{
    return f->marks + (f->q->copies ? (size_t)f->q->copies[function] * f->out->n_sites : 0);
}

static void mark_inst(struct finder *f, uint8_t *marks, uint32_t inst, bool reached)
{
    const struct dh_inst *i = &f->p->insts.at[inst];
    if (i->site >= f->out->n_sites)
        return;
    if (f->hazards[inst] & DH_HAZARD_THREAD_ENDED)
        marks[i->site] |= MARK_RACY;
    if (f->hazards[inst] & DH_HAZARD_FREED)
        marks[i->site] |= MARK_FREED;
    enum dh_inst_class class = dh_inst_class(i);
    if (is_plain(i))
        marks[i->site] |= reached ? MARK_SEEN : MARK_OTHER;
    else if (class != DH_CLASS_VALUE && class != DH_CLASS_END)
        marks[i->site] |= MARK_OTHER;
}

/* `known`: all calls of it are. */
static void mark_function(struct finder *f, uint32_t function, bool known)
{
    const struct dh_function *fn = &f->p->functions.at[function];
    for (uint32_t b = fn->block; b < fn->block + fn->n_blocks; b++)
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++)
            mark_inst(f, marks_of(f, function), f->p->blocks.at[b].inst + n, known);
}

static bool is_racy(struct finder *f, uint32_t event)
{
    return f->conflicts.unsafe[event] || may_be_anything(f, f->symex.events.at[event].node);
}

static void mark_events(struct finder *f)
{
    for (uint32_t n = 0; n < f->symex.events.n; n++) {
        const struct dh_symex_event *e = &f->symex.events.at[n];
        uint32_t site = f->p->insts.at[e->inst].site;
        if ((e->kind != DH_SYMEX_READ && e->kind != DH_SYMEX_WRITE) || site >= f->out->n_sites)
            continue;
        uint8_t *marks = marks_of(f, dh_inst_function(f->p, dh_program_block_of(f->p, e->inst)));
        marks[site] |= MARK_SHARED;
        if (is_racy(f, n))
            marks[site] |= MARK_RACY;
    }
}

static void conclude_sites(struct finder *f)
{
    struct dh_race_free *s = f->out;
    for (size_t n = 0; n < (size_t)s->n_sites * (f->q->n_copies + 1); n++) {
        if (n >= s->n_sites && f->q->also & DH_PROOF_TRUSTS_CLONES)
            f->marks[n] &= MARK_SEEN | MARK_OTHER;
        unsigned m = f->marks[n], known = (m & (MARK_SEEN | MARK_OTHER)) == MARK_SEEN;
        unsigned ordered = known && !(m & MARK_RACY), race = ordered && !(m & MARK_FREED);
        unsigned private = known && !(m & MARK_SHARED),
                 consistent = n < s->n_sites && ordered && !(m & MARK_INTERLEAVED);
        s->of_site[n] = (uint8_t)((race ? DH_PROVEN_RACE_FREE : 0) | (private ? DH_PROVEN_PRIVATE : 0) |
                                  (ordered && !race ? DH_PROVEN_ORDERED : 0) | (consistent ? DH_PROVEN_CONSISTENT : 0));
        if (n >= s->n_sites)
            continue;
        s->accesses += (m & MARK_SEEN) != 0;
        s->race += race;
        s->private += private;
        s->consistent += consistent;
    }
}

/* ---- the consistency detector ---- */

enum { INTERLEAVED = 1, INTERLEAVED_NO_ARRAYS = 2 };

static void mark_interleaved(struct finder *f, uint8_t *interleaved)
{
    uint8_t *hot = dh_find_interleavable(&f->symex, f->conflicts.unsafe);
    for (uint32_t n = 0; n < f->symex.events.n; n++) {
        uint32_t inst = f->symex.events.at[n].inst, site = f->p->insts.at[inst].site;
        if (!hot[n])
            continue;
        if (site < f->out->n_sites)
            f->marks[site] |= MARK_INTERLEAVED;
        if (!is_plain(&f->p->insts.at[inst]) || site >= f->out->n_sites)
            interleaved[dh_inst_function(f->p, dh_program_block_of(f->p, inst))] = INTERLEAVED | INTERLEAVED_NO_ARRAYS;
    }
    free(hot);
}

static uint8_t interleaved_with(const struct finder *f, const struct dh_inst *i)
{
    bool plain = i->op == DH_I_LOAD || i->op == DH_I_STORE || i->op == DH_I_MEMCPY || i->op == DH_I_MEMSET;
    /* The detector ignores atomics; all other accesses have events. */
    if (!plain || i->order || i->flags & DH_INST_LIBRARY || i->site >= f->out->n_sites ||
        f->out->of_site[i->site] & (DH_PROVEN_CONSISTENT | DH_PROVEN_PRIVATE))
        return 0;
    return f->elements && f->elements[i->site] ? INTERLEAVED : INTERLEAVED | INTERLEAVED_NO_ARRAYS;
}

/* Functions whose calls begin no scope that can be inconsistent. */
static void conclude_scopes(struct finder *f, uint8_t *interleaved)
{
    for (uint32_t b = 0; b < f->p->blocks.n; b++)
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++)
            interleaved[f->p->blocks.at[b].function] |=
                interleaved_with(f, &f->p->insts.at[f->p->blocks.at[b].inst + n]);
    dh_spread_to_callers(&f->points_to.calls, interleaved);
    for (uint32_t n = 0; n < f->p->functions.n; n++) {
        uint32_t site = f->p->functions.at[n].site;
        if (site < f->out->n_sites && f->p->functions.at[n].n_blocks)
            f->out->of_site[site] |=
                (uint8_t)((interleaved[n] & INTERLEAVED ? 0 : DH_PROVEN_SCOPE) |
                          (interleaved[n] & INTERLEAVED_NO_ARRAYS ? 0 : DH_PROVEN_SCOPE_NO_ARRAYS));
    }
}

/* ---- contexts ---- */

/* Accesses that are not race free in some contexts and could be in others. */
static void choose_clones(struct finder *f)
{
    uint8_t *racy = dh_xcalloc(f->symex.events.n, 1), *accesses = dh_xcalloc(f->p->insts.n, 1);
    for (uint32_t n = 0; n < f->p->insts.n; n++)
        accesses[n] = is_plain(&f->p->insts.at[n]) && f->p->insts.at[n].site < f->out->n_sites &&
                      !(f->hazards[n] & DH_HAZARD_THREAD_ENDED);
    for (uint32_t n = 0; n < f->symex.events.n; n++) {
        const struct dh_symex_event *e = &f->symex.events.at[n];
        bool access = e->kind == DH_SYMEX_READ || e->kind == DH_SYMEX_WRITE;
        racy[n] = access && accesses[e->inst] && is_racy(f, n);
    }
    struct dh_clone_query q = {.symex = &f->symex,
                               .racy = racy,
                               .open = f->open,
                               .accesses = accesses,
                               .copyable = f->q->copyable,
                               .first_call = f->out->n_sites,
                               .reckless = f->q->also & DH_PROOF_TRUSTS_CLONES};
    dh_function_clones_choose(f->q->clones, &q);
    free(racy);
    free(accesses);
}

/* ---- all ---- */

/* Constructors are over before there are threads, unless they start some; threads may outlive main. */
static void distrust_threads(struct finder *f)
{
    bool starts = false;
    for (size_t t = 0; t < f->symex.threads.n; t++)
        for (size_t c = 0; c < f->symex.threads.n; c++)
            starts |= f->symex.threads.at[t].creators >> c & 1 && f->symex.threads.at[c].kind == DH_ROOT_CONSTRUCTOR;
    for (size_t t = 0; t < f->symex.threads.n; t++)
        f->symex.threads.at[t].sequential &= f->symex.threads.at[t].kind == DH_ROOT_CONSTRUCTOR && !starts;
}

static bool compute_points_to(struct finder *f)
{
    enum { PASSES_MAX = 24 };
    dh_points_to_run(&f->points_to);
    if (f->points_to.passes >= PASSES_MAX)
        return give_up(f, "%s", "calls through pointers lead ever further");
    return keeps_callbacks(f) && knows_calls(f);
}

/* A join of a thread that is detached returns at once. */
static bool detaches(const struct finder *f)
{
    bool some = dh_program_find_function(f->p, "pthread_attr_setdetachstate") != DH_NONE;
    for (uint32_t n = 0; n < f->p->insts.n; n++)
        some |= f->p->insts.at[n].op == DH_I_DETACH;
    return some;
}

/* Plain accesses of lock objects. */
struct lock_uses {
    DH_VEC(uint32_t) events; /* by node */
};

static const struct dh_symex_event *events_to_sort;
static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, p = events_to_sort[x].node, q = events_to_sort[y].node;
    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

static void find_lock_uses(const struct finder *f, struct lock_uses *u)
{
    for (uint32_t n = 0; n < f->symex.events.n; n++)
        if (f->symex.events.at[n].flags & DH_SYMEX_LOCK_USE)
            dh_vec_push(&u->events, n);
    events_to_sort = f->symex.events.at;
    if (u->events.n)
        qsort(u->events.at, u->events.n, sizeof *u->events.at, by_node);
}

/* A lock that is initialised again orders nothing before that: it counts only if no thread can use it meanwhile.
 * `first` to `end` are the uses of one object. */
static bool is_reinitialised(struct finder *f, const struct lock_uses *u, size_t first, size_t end)
{
    const uint64_t before = proofs() & ~(ARGUMENT(LOCK) | ARGUMENT(ATOMIC) | ARGUMENT(DISJOINT));
    for (size_t n = first; n < end; n++) {
        const struct dh_symex_event *reinit = &f->symex.events.at[u->events.at[n]];
        for (size_t k = first; reinit->kind == DH_SYMEX_WRITE && k < end; k++) {
            if (k == n)
                continue;
            enum dh_argument g = dh_conflicts_argue(&f->symex, reinit, &f->symex.events.at[u->events.at[k]], false);
            if (g == DH_ARGUMENT_COUNT || !(before >> g & 1))
                return true;
        }
    }
    return false;
}

static void distrust_locks(struct finder *f)
{
    struct lock_uses u = {{0}};
    find_lock_uses(f, &u);
    for (size_t first = 0, end; first < u.events.n; first = end) {
        uint32_t node = f->symex.events.at[u.events.at[first]].node;
        for (end = first; end < u.events.n && f->symex.events.at[u.events.at[end]].node == node;)
            end++;
        if (is_reinitialised(f, &u, first, end))
            f->points_to.graph.nodes.at[node].flags |= DH_NODE_LOCK_REINIT;
    }
    dh_vec_release(&u.events);
}

/* Two handles in one variable: a join may be of either thread. */
static bool mixes_handles(struct finder *f)
{
    DH_VEC(uint32_t) nodes = {0};
    bool mixed = false;
    for (uint32_t b = 0; b < f->p->blocks.n; b++)
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++) {
            const struct dh_inst *i = &f->p->insts.at[f->p->blocks.at[b].inst + n];
            if (i->op != DH_I_CREATE)
                continue;
            uint32_t node = dh_points_to_value(&f->points_to, f->p->blocks.at[b].function, dh_operand(f->p, i, 0)).node;
            for (size_t k = 0; k < nodes.n; k++)
                mixed |= nodes.at[k] == node;
            dh_vec_push(&nodes, node);
        }
    dh_vec_release(&nodes);
    return mixed;
}

static void reach_threads(struct finder *f, bool main)
{
    memset(f->reached, 0, f->p->functions.n);
    for (size_t t = 0; t < f->symex.threads.n; t++)
        if ((f->symex.threads.at[t].kind == DH_ROOT_MAIN) == main)
            reach(f, f->symex.threads.at[t].function, false);
}

/* Main that leaves by pthread_exit ends before the process. */
static bool main_ends(struct finder *f)
{
    reach_threads(f, true);
    for (uint32_t b = 0; b < f->p->blocks.n; b++)
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++)
            if (f->p->insts.at[f->p->blocks.at[b].inst + n].op == DH_I_EXIT_THREAD &&
                f->reached[f->p->blocks.at[b].function])
                return true;
    return false;
}

static void find_hazards(struct finder *f)
{
    if (main_ends(f))
        memset(f->reached, 1, f->p->functions.n);
    else
        reach_threads(f, false);
    f->hazards = dh_use_after_free_find(&f->symex, f->reached);
    memset(f->reached, 0, f->p->functions.n);
}

/* Pointers that came through a pipe or from a thread's end: their user may race with the thread they come from. */
static bool knows_pointers(struct finder *f)
{
    for (uint32_t n = 0; n < f->p->insts.n; n++) {
        uint32_t function = f->hazards[n] & DH_HAZARD_UNKNOWN_POINTER && is_plain(&f->p->insts.at[n])
                                ? dh_inst_function(f->p, dh_program_block_of(f->p, n))
                                : DH_NONE;
        if (function != DH_NONE && f->reached[function])
            return give_up(f, "%s uses a pointer of which nobody knows where it leads", name_of(f, function));
    }
    return true;
}

static void prove_accesses(struct finder *f)
{
    find_hazards(f);
    dh_conflicts_init(&f->conflicts, &f->symex);
    distrust_threads(f);
    f->conflicts.trusted = proofs() | (f->q->also & ~DH_PROOF_TRUSTS_CLONES);
    distrust_locks(f);
    if (mixes_handles(f) || detaches(f))
        f->conflicts.trusted &= ~ARGUMENT(JOIN);
    f->conflicts.strict = true;
    dh_conflicts_run(&f->conflicts);
    for (uint32_t n = 0; n < f->p->functions.n; n++)
        if (is_open(f, n))
            reach(f, n, true);
    f->open = f->reached;
    f->reached = dh_xcalloc(f->p->functions.n, 1);
    for (size_t t = 0; t < f->symex.threads.n; t++)
        reach(f, f->symex.threads.at[t].function, true);
    for (uint32_t n = 0; n < f->p->functions.n; n++)
        mark_function(f, n, f->reached[n] && !f->open[n]);
    mark_events(f);
    uint8_t *interleaved = dh_xcalloc(f->p->functions.n, 1);
    mark_interleaved(f, interleaved);
    if (knows_pointers(f)) {
        conclude_sites(f);
        conclude_scopes(f, interleaved);
        if (f->q->clones)
            choose_clones(f);
    }
    free(interleaved);
    dh_conflicts_release(&f->conflicts);
}

static void execute_symbolically(struct finder *f)
{
    dh_symex_init(&f->symex, &f->points_to);
    f->symex.strict = true;
    f->symex.keep_contexts = f->q->clones;
    dh_symex_run(&f->symex);
    if (f->symex.incomplete)
        give_up(f, "%s", "the budget of the analysis was used up");
    else
        prove_accesses(f);
    dh_symex_release(&f->symex);
}

_Static_assert(DH_ARGUMENT_COUNT < 63, "one bit is for copies");

uint64_t dh_argument_bit(const char *name, size_t n)
{
    static const char *const names[] = {
#define DH_ARGUMENT(id, proof, text) #id,
#include "analysis/arguments.def"
#undef DH_ARGUMENT
    };
    for (unsigned a = 0; a < DH_ARGUMENT_COUNT; a++)
        if (strlen(names[a]) == n && strncmp(names[a], name, n) == 0)
            return 1ull << a;
    return n == strlen("COPIES") && strncmp("COPIES", name, n) == 0 ? DH_PROOF_TRUSTS_CLONES : 0;
}

void dh_race_free_find(struct dh_race_free *s, const struct dh_program *p, const struct dh_race_free_query *q)
{
    size_t rows = (size_t)q->n_sites * (q->n_copies + 1);
    *s = (struct dh_race_free){.of_site = dh_xcalloc(rows, 1), .n_sites = q->n_sites};
    struct finder f = {
        .out = s, .q = q, .p = p, .reached = dh_xcalloc(p->functions.n, 1), .marks = dh_xcalloc(rows, 1)};
    f.elements = q->elements;
    if (is_closed(&f) && is_modelled(&f)) {
        dh_points_to_init(&f.points_to, p);
        if (compute_points_to(&f))
            execute_symbolically(&f);
        dh_points_to_release(&f.points_to);
    }
    free(f.reached);
    free(f.open);
    free(f.marks);
    free(f.hazards);
}

void dh_race_free_release(struct dh_race_free *s)
{
    free(s->of_site);
    s->of_site = NULL;
}
