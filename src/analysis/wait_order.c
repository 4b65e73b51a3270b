#include "analysis/wait_order.h"

#include "analysis/races.h"
#include "analysis/symex_internal.h"

#include <stdlib.h>

enum {
    PLACES = 16,
    FOUND = 12,
    DEEPEST = 6,
    MOST_BLOCKS = 800,
    MOST_CONTEXTS = 48,
    MOST_SETS = 64,
    ALL_BLOCKS = 1000000
};

/* One walk backwards from an access, through callees that were left and callers that led here. */
struct history {
    struct dh_wait_order *x;
    const struct dh_heap_cell *places; /* NULL: any, and nothing ends the walk */
    unsigned n_places;
    uint64_t about;  /* their objects */
    uint32_t stop;   /* an instruction that ends the walk, DH_NONE */
    bool only_gates; /* what the thread sets itself is passed over */
    struct dh_guard_access found[FOUND];
    unsigned n;
    bool start;  /* some way leads from the thread's beginning, or from before there was this object */
    bool over;   /* too much */
    bool looped; /* what was found stands in a loop, the access does not */
    unsigned blocks, depth;
    uint32_t levels;
    struct dh_heap_cell gates[PLACES]; /* found when any are looked for */
    unsigned n_gates;
};

/* ---- blocks once ---- */

static bool is_new(struct history *h, uint32_t level, uint32_t block)
{
    if (dh_u64_set_has(&h->x->seen, dh_pair_key(level, block)))
        return false;
    if (++h->blocks > MOST_BLOCKS || !h->x->budget) {
        h->over = true;
        return false;
    }
    h->x->budget--;
    dh_u64_set_append(&h->x->seen, dh_pair_key(level, block));
    return true;
}

/* ---- words ---- */

static bool same_cell(struct dh_heap_cell a, struct dh_heap_cell b)
{
    return a.node == b.node && a.offset == b.offset;
}

static bool is_asked(const struct history *h, const struct dh_guard_access *word)
{
    for (unsigned n = 0; n < h->n_places; n++)
        if (same_cell(word->at, h->places[n]))
            return true;
    return false;
}

/* Places mean nothing in objects that too much was united to. */
static void note_gate(struct history *h, struct dh_heap_cell at)
{
    if (h->x->guards.symex->points_to->graph.nodes.at[at.node].flags & DH_NODE_COLLAPSED && at.offset != DH_GUARD_WHOLE_OBJECT)
        return;
    for (unsigned n = 0; n < h->n_gates; n++)
        if (same_cell(h->gates[n], at))
            return;
    if (h->n_gates < PLACES)
        h->gates[h->n_gates++] = at;
}

/* True: the way ends here. */
static bool meets(struct history *h, const struct dh_guard_access *word)
{
    bool gate = word->kind == DH_GUARD_TEST || word->taking;
    if (!h->places) {
        if (gate || word->library || dh_guards_is_tested(&h->x->guards, word->at))
            note_gate(h, word->at);
        return false;
    }
    if (!is_asked(h, word) || (h->only_gates && !gate))
        return false;
    for (unsigned n = 0; n < h->n; n++)
        if (h->found[n].inst == word->inst && h->found[n].kind == word->kind &&
            h->found[n].relation == word->relation && h->found[n].number == word->number)
            return true;
    if (h->n == FOUND)
        h->over = true;
    else
        h->found[h->n++] = *word;
    return true;
}

/* ---- backwards ---- */

static bool back_from_end(struct history *h, const struct dh_call_path *at);

/* True: no way leads through the call without a word. */
static bool call_ends(struct history *h, const struct dh_call_path *at, uint32_t call)
{
    struct dh_guards *words = &h->x->guards;
    const struct dh_call_graph *calls = &words->symex->points_to->calls;
    bool through = false, any = false;
    for (uint32_t it = dh_call_graph_first(calls, call), to; dh_call_graph_next(calls, call, &it, &to);) {
        any = true;
        unsigned made = words->n_made;
        bool speaks = words->speaks[to] && (!h->places || words->about[to] & h->about);
        const struct dh_call_path *in =
            speaks && h->depth < DEEPEST ? dh_guards_enter_callee(words, at, call, to) : NULL;
        h->depth++;
        through |= !in || back_from_end(h, in);
        h->depth--;
        words->n_made = made;
    }
    return any && !through;
}

static bool inst_ends(struct history *h, const struct dh_call_path *at, uint32_t inst)
{
    struct dh_guards *words = &h->x->guards;
    struct dh_guard_access word;
    if (words->symex->program->insts.at[inst].op == DH_I_CALL)
        return call_ends(h, at, inst);
    return (dh_guards_set_by(words, at, inst, &word) || dh_guards_awaited_by(words, at, inst, &word)) &&
           meets(h, &word);
}

/* `root`: the register that holds the object; before it was assigned, that was another one. */
static bool block_ends(struct history *h, const struct dh_call_path *at, uint32_t block, uint32_t end, uint32_t root)
{
    const struct dh_program *p = h->x->guards.symex->program;
    for (uint32_t i = end; i > p->blocks.at[block].inst; i--) {
        if (root != DH_NONE && p->insts.at[i - 1].result == root) {
            h->start = true;
            return true;
        }
        if (i - 1 == h->stop || inst_ends(h, at, i - 1))
            return true;
    }
    return false;
}

static void push_preds(struct history *h, const struct dh_call_path *at, uint32_t block)
{
    const struct dh_program *p = h->x->guards.symex->program;
    const struct dh_basic_block *b = &p->blocks.at[block];
    for (uint32_t n = 0; n < b->n_preds; n++) {
        uint32_t pred = dh_predecessors(p, b)[n];
        struct dh_guard_access words[DH_GUARDS_PER_EDGE];
        unsigned found = dh_guards_on_edge(&h->x->guards, at, pred, block, words);
        bool ends = false;
        for (unsigned k = 0; k < found; k++)
            ends |= meets(h, &words[k]);
        if (!ends)
            dh_vec_push(&h->x->todo, pred);
    }
}

/* Blocks of the level that are left to do; true: some way comes from the function's beginning. */
static bool finish_level(struct history *h, const struct dh_call_path *at, size_t base, uint32_t level, uint32_t root)
{
    const struct dh_program *p = h->x->guards.symex->program;
    uint32_t entry = p->functions.at[at->function].block;
    bool reached = false;
    while (h->x->todo.n > base) {
        uint32_t block = h->x->todo.at[--h->x->todo.n];
        if (h->over || !is_new(h, level, block))
            continue;
        const struct dh_basic_block *b = &p->blocks.at[block];
        if (block_ends(h, at, block, b->inst + b->n_insts, root))
            continue;
        reached |= block == entry;
        push_preds(h, at, block);
    }
    return reached;
}

static bool back_from_end(struct history *h, const struct dh_call_path *at)
{
    const struct dh_program *p = h->x->guards.symex->program;
    const struct dh_function *f = &p->functions.at[at->function];
    size_t base = h->x->todo.n;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        if (p->insts.at[p->blocks.at[b].inst + p->blocks.at[b].n_insts - 1].op == DH_I_RETURN)
            dh_vec_push(&h->x->todo, b);
    return finish_level(h, at, base, ++h->levels, DH_NONE);
}

static void note_loop(struct history *h, uint32_t inst, unsigned before)
{
    struct dh_symex *w = h->x->guards.symex;
    for (unsigned n = before; n < h->n; n++) {
        uint32_t block = dh_program_block_of(w->program, h->found[n].inst);
        uint32_t function = w->program->blocks.at[block].function;
        uint32_t mine = dh_program_block_of(w->program, inst);
        const struct dh_cfg *flow = dh_symex_cfg(w, function);
        uint32_t loop = flow->loop.at[block - flow->first];
        bool same = w->program->blocks.at[mine].function == function;
        h->looped |= loop != DH_NONE && same && !dh_cfg_in_loop(flow, loop, mine - flow->first);
    }
}

static bool back_from(struct history *h, const struct dh_call_path *at, uint32_t inst, uint32_t root)
{
    const struct dh_program *p = h->x->guards.symex->program;
    uint32_t block = dh_program_block_of(p, inst);
    size_t base = h->x->todo.n;
    unsigned before = h->n;
    if (block_ends(h, at, block, inst, root))
        return false;
    push_preds(h, at, block);
    bool reached = finish_level(h, at, base, ++h->levels, root);
    note_loop(h, inst, before);
    return reached || block == p->functions.at[at->function].block;
}

/* ---- the object at work ---- */

/* The register by which the function has the object, or the parameter. */
static uint32_t root_of(struct dh_symex *w, uint32_t function, dh_value v)
{
    const struct dh_value_numbering *x = &w->state->values;
    struct dh_term t = dh_value_term(&w->state->values, function, v);
    while (t.expr && x->exprs.at[t.expr].kind == DH_EXPR_INDEX)
        t.expr = x->exprs.at[t.expr].a;
    struct dh_expr e = x->exprs.at[t.expr];
    if (e.kind == DH_EXPR_PARAM)
        return e.a;
    if ((e.kind == DH_EXPR_REGISTER || e.kind == DH_EXPR_OBJECT) && e.a == function)
        return e.b;
    return e.kind == DH_EXPR_LOAD && e.c == function && e.b ? e.b - 1 : DH_NONE;
}

struct step_up {
    uint32_t context, inst, root;
};

static void push_caller(struct history *h, struct step_up *queue, unsigned *n, uint32_t caller, uint32_t call,
                        uint32_t param)
{
    struct dh_symex *w = h->x->guards.symex;
    uint32_t root = DH_NONE;
    for (unsigned k = 0; k < *n; k++)
        if (queue[k].context == caller && queue[k].inst == call)
            return;
    if (*n == MOST_CONTEXTS || caller == DH_NONE) {
        h->over = true;
        return;
    }
    const struct dh_inst *i = &w->program->insts.at[call];
    if (param != DH_NONE && i->op == DH_I_CALL && param + 1 < i->n_operands)
        root = root_of(w, w->contexts.at[caller].function, dh_operand(w->program, i, param + 1));
    queue[(*n)++] = (struct step_up){caller, call, root};
}

static void push_callers(struct history *h, struct step_up *queue, unsigned *n, const struct step_up *at)
{
    struct dh_symex *w = h->x->guards.symex;
    const struct dh_context *c = &w->contexts.at[at->context];
    uint32_t param = at->root < w->program->functions.at[c->function].n_params ? at->root : DH_NONE;
    if (c->caller == DH_NONE || c->call == DH_NONE)
        h->start = true;
    else
        push_caller(h, queue, n, c->caller, c->call, param);
    uint32_t more = w->state->callers_of.n > at->context ? w->state->callers_of.at[at->context] : 0;
    for (; more; more = w->state->callers.at[more - 1].next)
        push_caller(h, queue, n, w->state->callers.at[more - 1].caller, w->state->callers.at[more - 1].call, param);
}

static dh_value address_of(const struct dh_symex *w, const struct dh_symex_event *e)
{
    const struct dh_inst *i = &w->program->insts.at[e->inst];
    uint32_t n = i->op == DH_I_MEMCPY && e->kind == DH_SYMEX_READ ? 1 : 0;
    return n < i->n_operands ? dh_operand(w->program, i, n) : DH_NONE;
}

/* The words on these places that come last before the event, on every way to it. */
static void look_back(struct history *h, const struct dh_symex_event *e)
{
    struct dh_symex *w = h->x->guards.symex;
    struct step_up queue[MOST_CONTEXTS];
    unsigned n = 0;
    bool many = false;
    for (unsigned k = 0; k < h->n_places; k++) {
        many |= !dh_symex_is_unique(w, h->places[k].node);
        h->about |= dh_guards_object_bit(h->places[k].node);
    }
    uint32_t root = many ? root_of(w, w->contexts.at[e->context].function, address_of(w, e)) : DH_NONE;
    dh_u64_set_clear(&h->x->seen);
    h->x->todo.n = 0;
    h->x->guards.n_made = 0;
    queue[n++] = (struct step_up){e->context, e->inst, root};
    for (unsigned k = 0; k < n && !h->over; k++) {
        struct dh_call_path at = {w->contexts.at[queue[k].context].function, DH_NONE, NULL, queue[k].context, 0};
        if (back_from(h, &at, queue[k].inst, queue[k].root))
            push_callers(h, queue, &n, &queue[k]);
    }
}

static struct history look(struct dh_wait_order *x, const struct dh_symex_event *e, const struct dh_heap_cell *places,
                           unsigned n, bool only_gates)
{
    struct history h = {.x = x, .places = places, .n_places = n, .only_gates = only_gates, .stop = DH_NONE};
    look_back(&h, e);
    return h;
}

/* ---- what an access has behind it ---- */

static bool all_are(const struct history *h, enum dh_guard_access_kind kind)
{
    for (unsigned n = 0; n < h->n; n++)
        if (h->found[n].kind != kind)
            return false;
    return h->n && !h->start && !h->over;
}

/* What holds behind one of them. */
static struct dh_guard_access gate_of(const struct dh_guard_access *word)
{
    struct dh_guard_access gate = *word;
    if (word->taking) {
        gate.kind = DH_GUARD_TEST;
        gate.relation = DH_CMP_GT;
        gate.known = true;
        gate.number = 0;
    }
    return gate;
}

static bool one_gate(const struct history *h)
{
    struct dh_guard_access gate = h->n ? gate_of(&h->found[0]) : (struct dh_guard_access){0};
    for (unsigned n = 1; n < h->n; n++) {
        struct dh_guard_access other = gate_of(&h->found[n]);
        if (other.relation != gate.relation || other.known != gate.known || other.number != gate.number)
            return false;
    }
    return h->n && !h->start && !h->over;
}

static bool one_change(const struct history *h)
{
    for (unsigned n = 1; n < h->n; n++)
        if (h->found[n].change != h->found[0].change || h->found[n].number != h->found[0].number)
            return false;
    return true;
}

static void find_way(struct dh_wait_order *x, const struct dh_symex_event *e, struct dh_heap_cell at)
{
    struct dh_passed_guard way = {.at = at};
    struct history last = look(x, e, &at, 1, false);
    if (last.over || !last.n)
        return;
    way.claimed = all_are(&last, DH_GUARD_SET) && one_change(&last);
    way.set = last.found[0];
    if (all_are(&last, DH_GUARD_TEST) || way.claimed) {
        struct history gates = look(x, e, &at, 1, true);
        way.entered = one_gate(&gates);
        if (way.entered)
            way.test = gate_of(&gates.found[0]);
        way.looped = gates.looped;
    }
    if (way.entered || way.claimed)
        dh_vec_push(&x->passed, way);
}

/* Accesses between the same words in one context have the same ways behind them. */
static struct dh_passed_guards_key key_of(struct dh_wait_order *x, const struct dh_symex_event *e)
{
    struct dh_symex *w = x->guards.symex;
    uint32_t first = w->program->blocks.at[dh_program_block_of(w->program, e->inst)].inst, inst = e->inst;
    while (inst > first && !dh_guards_involve(&x->guards, inst - 1))
        inst--;
    uint32_t root = root_of(w, w->contexts.at[e->context].function, address_of(w, e));
    return (struct dh_passed_guards_key){e->context, inst, root};
}

static struct dh_passed_guards ways_of(struct dh_wait_order *x, const struct dh_symex_event *e)
{
    struct dh_passed_guards_key key = key_of(x, e);
    uint32_t number = dh_key_map_number(&x->numbers, &key);
    if (number < x->answers.n)
        return x->answers.at[number];
    struct history any = {.x = x, .stop = DH_NONE};
    struct dh_passed_guards ways = {.first = (uint32_t)x->passed.n};
    look_back(&any, e);
    ways.place = (uint32_t)x->places.n;
    ways.n_places = any.n_gates;
    ways.all = !any.over && any.n_gates < PLACES;
    for (unsigned n = 0; n < any.n_gates; n++) {
        dh_vec_push(&x->places, any.gates[n]);
        find_way(x, e, any.gates[n]);
    }
    ways.n = (uint32_t)x->passed.n - ways.first;
    dh_vec_push(&x->answers, ways);
    return ways;
}

/* No word on the place was given or tested before the event. */
static bool is_first(struct dh_wait_order *x, const struct dh_symex_event *e, struct dh_heap_cell at)
{
    struct dh_passed_guards ways = ways_of(x, e);
    bool there = !ways.all || at.offset == DH_GUARD_WHOLE_OBJECT;
    for (uint32_t n = 0; n < ways.n_places && !there; n++)
        there = same_cell(x->places.at[ways.place + n], at);
    if (!there)
        return true;
    struct history before = look(x, e, &at, 1, false);
    return before.start && !before.n && !before.over;
}

/* ---- who gives the word ---- */

static bool has_edge(const struct dh_symex *w, uint32_t from, uint32_t to)
{
    const struct dh_heap_node *n = &w->points_to->graph.nodes.at[from];
    for (unsigned k = 0; k < n->n_edges; k++)
        if (dh_heap_graph_find(&w->points_to->graph, n->edges[k].to).node == to)
            return true;
    return false;
}

/* Threads of this kind only ever change it so: each counts what it has done, nothing else. */
static bool only_changes(struct dh_wait_order *x, uint32_t thread, struct dh_heap_cell at, enum dh_guard_change change)
{
    const struct dh_symex *w = x->guards.symex;
    for (uint32_t n = dh_guards_first_set(&x->guards, at); n < x->guards.n_set; n++) {
        const struct dh_symex_event *set = &w->events.at[x->guards.set[n]];
        struct dh_guard_access words[8];
        if (set->node != at.node || set->offset != at.offset)
            break;
        unsigned all = set->thread == thread ? dh_guards_values_set(&x->guards, x->guards.set[n], words, 8) : 0;
        for (unsigned k = 0; k < all; k++)
            if (words[k].change != change)
                return false;
    }
    return true;
}

/* Threads of one kind that are many: the word must be about this object, or they must all have counted. */
static bool covers(struct dh_wait_order *x, const struct dh_symex_event *e, const struct dh_passed_guard *way,
                   enum dh_guard_change change)
{
    const struct dh_symex *w = x->guards.symex;
    if (w->threads.at[e->thread].unique)
        return true;
    if (!dh_symex_is_unique(w, way->at.node))
        return way->at.node == e->node || has_edge(w, way->at.node, e->node) || has_edge(w, e->node, way->at.node);
    if ((change != DH_GUARD_INCREASED && change != DH_GUARD_DECREASED) || !only_changes(x, e->thread, way->at, change))
        return false;
    if (way->looped && change == DH_GUARD_INCREASED)
        return true;
    if (way->test.relation == DH_CMP_OTHER) /* a library says that all have */
        return true;
    bool zero = way->test.known && way->test.number <= 1;
    bool some = way->test.relation == DH_CMP_NE || (way->test.relation == DH_CMP_GT && zero) ||
                (way->test.relation == DH_CMP_GE && zero);
    return !some;
}

/* The test and the setting are in order themselves. */
static bool is_orderly(struct dh_wait_order *x, const struct dh_passed_guard *way, const struct dh_symex_event *set)
{
    uint32_t read = x->guards.reads[way->test.inst];
    if (set->kind == DH_SYMEX_POST || way->test.relation == DH_CMP_OTHER || set->flags & DH_SYMEX_ATOMIC)
        return way->test.relation == DH_CMP_OTHER || way->test.taking;
    return read && x->guards.locked[set->inst] == 1 &&
           dh_conflicts_argue(x->guards.symex, &x->guards.symex->events.at[read - 1], set, false) != DH_ARGUMENT_COUNT;
}

/* In which ways a thread gives the word that opened this one, as bits. */
static unsigned changes_by(struct dh_wait_order *x, uint32_t thread, const struct dh_passed_guard *way)
{
    const struct dh_symex *w = x->guards.symex;
    bool whole = way->at.offset == DH_GUARD_WHOLE_OBJECT;
    unsigned changes = 0, looked_at = 0;
    for (uint32_t n = dh_guards_first_set(&x->guards, way->at); n < x->guards.n_set && looked_at < MOST_SETS; n++) {
        const struct dh_symex_event *set = &w->events.at[x->guards.set[n]];
        struct dh_guard_access words[8];
        if (set->node != way->at.node || (!whole && set->offset != way->at.offset))
            break;
        if (set->thread != thread || (whole && set->kind != DH_SYMEX_POST))
            continue;
        looked_at++;
        unsigned all = dh_guards_values_set(&x->guards, x->guards.set[n], words, 8), fitting = 0;
        for (unsigned k = 0; k < all; k++)
            fitting |= dh_guard_may_satisfy(&words[k], &way->test) ? 1u << words[k].change : 0;
        if (fitting & ~changes && is_orderly(x, way, set))
            changes |= fitting;
    }
    return changes;
}

/* The thread of `e` gives the word that opened this way. */
static bool gives_word(struct dh_wait_order *x, const struct dh_symex_event *e, uint32_t number)
{
    struct dh_passed_guard *way = &x->passed.at[number];
    if (!(way->asked >> e->thread & 1)) {
        unsigned changes = changes_by(x, e->thread, way);
        way->asked |= (dh_thread_set)1 << e->thread;
        for (unsigned k = 0; k <= DH_GUARD_CHANGED; k++)
            way->set_by[k] |= (dh_thread_set)(changes >> k & 1) << e->thread;
    }
    for (unsigned k = 0; k <= DH_GUARD_CHANGED; k++)
        if (way->set_by[k] >> e->thread & 1 && covers(x, e, way, (enum dh_guard_change)k))
            return true;
    return false;
}

/* What a global has from the beginning at this place. */
static int64_t initial_number(const struct dh_symex *w, uint32_t global, struct dh_heap_cell at)
{
    const struct dh_program *p = w->program;
    const struct dh_global *g = &p->globals.at[global];
    struct dh_heap_cell begin = dh_heap_graph_find(&w->points_to->graph, w->points_to->globals[global]);
    int64_t number;
    for (uint32_t k = g->initial; k < g->initial + g->n_initials; k++)
        if (begin.offset + (int64_t)p->initials.at[k].offset == at.offset &&
            dh_value_int(p, p->initials.at[k].value, &number))
            return number;
    return 0;
}

static bool is_more_at_first(const struct dh_symex *w, struct dh_heap_cell at)
{
    const struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t first = g->nodes.at[at.node].origin, o = first;
    for (unsigned n = 0; o != DH_NO_NODE && n < PLACES; n++) {
        if (g->origins.at[o].kind == DH_ORIGIN_GLOBAL && initial_number(w, g->origins.at[o].index, at) > 1)
            return true;
        o = g->origins.at[o].next;
        if (o == first)
            break;
    }
    return false;
}

/* Nothing but 0 and 1 is ever put there at once. */
static bool begins_with_one(struct dh_wait_order *x, struct dh_heap_cell at)
{
    const struct dh_symex *w = x->guards.symex;
    if (is_more_at_first(w, at))
        return false;
    for (uint32_t n = dh_guards_first_set(&x->guards, at); n < x->guards.n_set; n++) {
        const struct dh_symex_event *set = &w->events.at[x->guards.set[n]];
        struct dh_guard_access words[8];
        if (set->node != at.node || set->offset != at.offset)
            break;
        unsigned all = dh_guards_values_set(&x->guards, x->guards.set[n], words, 8);
        for (unsigned k = 0; k < all; k++)
            if (words[k].change == DH_GUARD_CHANGED || (words[k].change == DH_GUARD_ASSIGNED && words[k].number > 1))
                return false;
    }
    return true;
}

/* ---- rules ---- */

/* The last word before it is that it may go on. */
static bool has_entered(const struct history *h, const struct dh_passed_guard *way, bool from_start)
{
    for (unsigned n = 0; n < h->n; n++) {
        const struct dh_guard_access *word = &h->found[n];
        bool own = word->kind == DH_GUARD_SET && way && way->claimed && word->change == DH_GUARD_DECREASED;
        if (!way || !same_cell(word->at, way->at) || (word->kind != DH_GUARD_TEST && !own))
            return false;
    }
    return !h->over && (from_start || !h->start) && (h->n || h->start);
}

/* `b` waits for a word that a's thread gives only afterwards, and that one does not begin again before b's thread says
 * so. */
static bool in_turn(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b,
                    uint32_t number)
{
    struct dh_passed_guard copy = x->passed.at[number], *in_b = &copy;
    if (!in_b->entered || !gives_word(x, a, number))
        return false;
    if ((!in_b->claimed || in_b->set.change == DH_GUARD_DECREASED) && is_first(x, a, in_b->at))
        return true;
    struct dh_passed_guards of_a = ways_of(x, a);
    for (uint32_t n = 0; n < of_a.n; n++) {
        struct dh_passed_guard in_a = x->passed.at[of_a.first + n];
        if (!in_a.entered)
            continue;
        if (same_cell(in_a.at, in_b->at)) {
            if (!in_a.claimed && !in_b->claimed && dh_guards_contradict(&in_a.test, &in_b->test))
                return true;
            continue;
        }
        struct dh_heap_cell both[] = {in_a.at, in_b->at};
        struct history ha = look(x, a, both, 2, false), hb = look(x, b, both, 2, false);
        if (has_entered(&ha, &in_a, true) && has_entered(&hb, in_b, false) && gives_word(x, b, of_a.first + n))
            return true;
    }
    return false;
}

static bool shuts_out(struct dh_wait_order *x, const struct dh_passed_guard *gate,
                      const struct dh_passed_guards *others)
{
    for (uint32_t n = 0; n < others->n; n++) {
        const struct dh_passed_guard *way = &x->passed.at[others->first + n];
        if (!way->claimed || !same_cell(way->at, gate->at) || !dh_guard_blocks(&way->set, &gate->test))
            continue;
        if (way->set.change != DH_GUARD_DECREASED || begins_with_one(x, way->at))
            return true;
    }
    return false;
}

/* Who is inside has set what keeps the other outside, each for the other. */
static bool exclude(struct dh_wait_order *x, const struct dh_passed_guards *a, const struct dh_passed_guards *b)
{
    bool out = false;
    for (uint32_t n = 0; n < a->n && !out; n++)
        out = x->passed.at[a->first + n].entered && shuts_out(x, &x->passed.at[a->first + n], b);
    if (!out)
        return false;
    for (uint32_t n = 0; n < b->n; n++)
        if (x->passed.at[b->first + n].entered && shuts_out(x, &x->passed.at[b->first + n], a))
            return true;
    return false;
}

static bool is_numbered(const struct dh_passed_guard *w)
{
    return w->entered && !w->claimed && w->test.relation == DH_CMP_EQ && !w->test.known;
}

/* Both wait until their own number is called, and have not called the next one yet. */
static bool by_number(struct dh_wait_order *x, const struct dh_passed_guards *a, const struct dh_passed_guards *b)
{
    for (uint32_t n = 0; n < a->n; n++)
        for (uint32_t k = 0; k < b->n; k++) {
            const struct dh_passed_guard *one = &x->passed.at[a->first + n], *other = &x->passed.at[b->first + k];
            if (same_cell(one->at, other->at) && is_numbered(one) && is_numbered(other))
                return true;
        }
    return false;
}

bool dh_wait_order_separates(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    struct dh_passed_guards of_a = ways_of(x, a), of_b = ways_of(x, b);
    if (!of_a.n && !of_b.n)
        return false;
    if (exclude(x, &of_a, &of_b) || by_number(x, &of_a, &of_b))
        return true;
    for (uint32_t n = 0; n < of_b.n; n++) {
        if (in_turn(x, a, b, of_b.first + n))
            return true;
    }
    for (uint32_t n = 0; n < of_a.n; n++) {
        if (in_turn(x, b, a, of_a.first + n))
            return true;
    }
    return false;
}

static bool came_late(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    struct dh_passed_guards of_a = ways_of(x, a), of_b = ways_of(x, b);
    for (uint32_t n = 0; n < of_b.n; n++)
        for (uint32_t k = 0; k < of_a.n; k++) {
            const struct dh_passed_guard *gate = &x->passed.at[of_b.first + n], *own = &x->passed.at[of_a.first + k];
            if (gate->entered && own->claimed && same_cell(gate->at, own->at) && gate->at.node == a->node &&
                !dh_symex_is_unique(x->guards.symex, a->node) && dh_guard_may_satisfy(&own->set, &gate->test))
                return true;
        }
    return false;
}

bool dh_wait_order_ends_ownership(struct dh_wait_order *x, const struct dh_symex_event *a,
                                  const struct dh_symex_event *b)
{
    return a->thread != b->thread && (came_late(x, a, b) || came_late(x, b, a));
}

bool dh_wait_order_keeps_turn(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    struct dh_heap_cell places[PLACES];
    struct dh_passed_guards of_a = ways_of(x, a);
    struct history h = {.x = x, .places = places, .stop = a->inst};
    if (a->context != b->context)
        return false;
    for (uint32_t n = 0; n < of_a.n && n < PLACES; n++)
        places[h.n_places++] = x->passed.at[of_a.first + n].at;
    if (a->inst != b->inst)
        look_back(&h, b);
    return !h.n && !h.over && !h.start;
}

/* ---- */

void dh_wait_order_init(struct dh_wait_order *x, struct dh_symex *w)
{
    *x = (struct dh_wait_order){.budget = ALL_BLOCKS, .numbers = DH_KEY_MAP(struct dh_passed_guards_key)};
    dh_guards_init(&x->guards, w);
}

void dh_wait_order_release(struct dh_wait_order *x)
{
    dh_guards_release(&x->guards);
    dh_key_map_release(&x->numbers);
    dh_vec_release(&x->answers);
    dh_u64_set_release(&x->seen);
    dh_vec_release(&x->passed);
    dh_vec_release(&x->places);
    dh_vec_release(&x->todo);
}
