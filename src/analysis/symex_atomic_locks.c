/* Heuristic: locks, flags and ticket locks that a program builds of atomics. The outcome of a branch that tests an
 * atomic is kept in the abstract state like a held lock. Strict execution, for proofs, does without. */
#include "analysis/atomic_sync.h"
#include "analysis/source_names.h"
#include "base/alloc.h"

/* ---- uses of atomics ---- */

static int by_place(const void *a, const void *b)
{
    const struct dh_atomic_use *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->inst != y->inst)
        return x->inst < y->inst ? -1 : 1;
    return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread) : x->initial - y->initial;
}

void dh_atomic_sync_init(struct dh_atomic_sync *m, struct dh_symex *w)
{
    *m = (struct dh_atomic_sync){.symex = w};
    dh_atomic_tests_init(&m->looks, w);
    m->roles = dh_xcalloc(w->program->insts.n + 1, 1);
    m->nodes = dh_xcalloc(w->points_to->graph.nodes.n + 1, 1);
}

void dh_atomic_sync_release(struct dh_atomic_sync *m)
{
    dh_atomic_tests_release(&m->looks);
    free(m->roles);
    free(m->nodes);
    dh_vec_release(&m->uses);
    dh_vec_release(&m->plain);
}

void dh_atomic_sync_index_uses(struct dh_atomic_sync *m)
{
    uint32_t kept = 0;
    if (m->uses.n)
        qsort(m->uses.at, m->uses.n, sizeof *m->uses.at, by_place);
    for (uint32_t n = 0; n < m->uses.n; n++)
        if (!kept || by_place(&m->uses.at[kept - 1], &m->uses.at[n]) != 0)
            m->uses.at[kept++] = m->uses.at[n];
    m->uses.n = kept;
    for (uint32_t n = 0; n < kept; n++)
        m->nodes[m->uses.at[n].node] = 1;
}

uint32_t dh_atomic_sync_first_use(const struct dh_atomic_sync *m, struct dh_heap_cell at)
{
    uint32_t low = 0, high = (uint32_t)m->uses.n;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        const struct dh_atomic_use *u = &m->uses.at[mid];
        if (u->node < at.node || (u->node == at.node && u->offset < at.offset))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool dh_atomic_sync_is_use_of(const struct dh_atomic_sync *m, uint32_t n, struct dh_heap_cell at)
{
    return n < m->uses.n && m->uses.at[n].node == at.node && m->uses.at[n].offset == at.offset;
}

bool dh_atomic_sync_has_plain_store(const struct dh_atomic_sync *m, struct dh_heap_cell at)
{
    for (size_t n = 0; n < m->plain.n; n++)
        if (m->plain.at[n].node == at.node && m->plain.at[n].offset == at.offset)
            return true;
    return false;
}

/* In a collapsed node, atomics are distinguished by their names in the source. */
static struct dh_heap_cell location_of(struct dh_symex *w, struct dh_heap_cell at, uint32_t inst)
{
    if (at.node == DH_NO_NODE || !(w->points_to->graph.nodes.at[at.node].flags & DH_NODE_COLLAPSED))
        return at;
    uint32_t name = w->sites ? dh_source_variable_id(w, inst) : 0;
    return name ? (struct dh_heap_cell){at.node, INT32_MIN + (int32_t)(name & INT32_MAX)} : DH_NO_CELL;
}

static bool is_written(const struct dh_inst *i)
{
    return i->op == DH_I_STORE || i->op == DH_I_RMW || i->op == DH_I_CAS;
}

/* Before the atomic is shared. */
static bool is_initial(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    struct dh_term a = dh_value_term(&w->state->values, t->f->function, dh_operand(w->program, t->i, 0));
    return (w->threads.at[t->f->thread].unique && !t->s->started) ||
           dh_symex_attributes(w, t->f, t->s, a) & DH_ARG_FRESH;
}

static void note_use(struct dh_symex_step *t, struct dh_heap_cell at)
{
    struct dh_symex *w = t->w;
    struct dh_atomic_use u = {.node = at.node,
                              .offset = at.offset,
                              .inst = t->inst,
                              .function = t->f->function,
                              .thread = (uint16_t)t->f->thread,
                              .initial = is_initial(t)};
    if (is_written(t->i)) {
        u.releases = dh_atomic_releases(w, t->f->function, t->inst);
        u.valued = (t->i->op != DH_I_RMW || t->i->extra == DH_BIN_XCHG) &&
                   dh_value_int(w->program, dh_operand(w->program, t->i, t->i->n_operands - 1), &u.value);
    }
    dh_vec_push(&w->state->atomics.uses, u);
}

static bool drop_atomic_locks(struct dh_state *s, struct dh_heap_cell at)
{
    bool any = false;
    for (unsigned n = 0; n < s->n_locks;) {
        struct dh_symex_lock *h = &s->locks[n];
        if (h->node == at.node && h->offset == at.offset &&
            (h->sync_kind == DH_SYNC_ATOMIC_LOCK || h->sync_kind == DH_SYNC_ATOMIC_LAST)) {
            any |= h->sync_kind == DH_SYNC_ATOMIC_LOCK && !h->pending;
            s->n_locks--;
            memmove(h, h + 1, (s->n_locks - n) * sizeof *h);
        } else {
            n++;
        }
    }
    return any;
}

/* A thread that releases the lock by storing a value knows the value. */
static void note_stored_flag(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    int64_t value;
    if (t->i->op != DH_I_STORE || !dh_value_int(w->program, dh_operand(w->program, t->i, 1), &value) || !value ||
        !dh_atomic_releases(w, t->f->function, t->inst))
        return;
    struct dh_symex_lock h = dh_symex_lock_of_operand(w, t->f, t->i, 0, 0);
    h.sync_kind = DH_SYNC_ATOMIC_FLAG;
    h.test_known = true;
    h.test = DH_CMP_EQ;
    h.number = value;
    dh_state_lock(t->s, &h);
}

void dh_atomic_sync_access(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    struct dh_atomic_sync *m = &w->state->atomics;
    bool recording = w->state->second_pass;
    if (w->strict || (!t->i->order && (!recording || t->i->op != DH_I_STORE)) || (!recording && !t->records))
        return;
    struct dh_heap_cell at =
        dh_symex_bound_cell(w, t->f, dh_points_to_value(w->points_to, t->f->function, dh_operand(w->program, t->i, 0)));
    if (at.node == DH_NO_NODE || (recording && !m->nodes[at.node]))
        return;
    at = location_of(w, dh_points_to_fold_cell(w->points_to, at), t->inst);
    if (at.node == DH_NO_NODE)
        return;
    if (!recording) {
        note_use(t, at);
        return;
    }
    if (!is_written(t->i) || t->i->op == DH_I_CAS)
        return;
    m->roles[t->inst] |= t->records && !t->s->n_locks ? DH_ATOMIC_WITHOUT_LOCK : 0;
    bool released = drop_atomic_locks(t->s, at);
    m->roles[t->inst] |= released ? DH_ATOMIC_RELEASES : 0;
    if (released && !(w->points_to->graph.nodes.at[at.node].flags & DH_NODE_COLLAPSED))
        note_stored_flag(t);
    if (!t->i->order && t->records && dh_atomic_sync_is_use_of(m, dh_atomic_sync_first_use(m, at), at) &&
        !is_initial(t) && !dh_atomic_sync_has_plain_store(m, at))
        dh_vec_push(&m->plain, at);
}

void dh_atomic_sync_fence(struct dh_symex_step *t)
{
    bool acquires =
        t->i->order == DH_ORDER_ACQUIRE || t->i->order == DH_ORDER_ACQ_REL || t->i->order == DH_ORDER_SEQ_CST;
    for (unsigned n = 0; acquires && n < t->s->n_locks; n++)
        t->s->locks[n].pending = false;
}

/* ---- what the outcome of a test means ---- */

/* Every release must have release order; instructions whose value is tested are acquisitions. */
static bool is_released_in_order(const struct dh_atomic_sync *m, struct dh_heap_cell at)
{
    const struct dh_program *p = m->symex->program;
    for (uint32_t n = dh_atomic_sync_first_use(m, at); dh_atomic_sync_is_use_of(m, n, at); n++) {
        const struct dh_atomic_use *u = &m->uses.at[n];
        uint8_t op = p->insts.at[u->inst].op;
        if ((op == DH_I_STORE || op == DH_I_RMW) && !u->initial && !u->releases &&
            !(m->roles[u->inst] & DH_ATOMIC_TESTED))
            return false;
    }
    return true;
}

/* Some thread stores with release order the value that this test waits for, and none stores it without. */
static bool is_signalled(const struct dh_atomic_sync *m, struct dh_heap_cell at, const struct dh_value_test *test,
                         bool waits)
{
    const struct dh_program *p = m->symex->program;
    bool signalled = false, may_differ = waits || !test->known || !dh_value_test_holds(test, 0);
    for (uint32_t n = dh_atomic_sync_first_use(m, at); dh_atomic_sync_is_use_of(m, n, at); n++) {
        const struct dh_atomic_use *u = &m->uses.at[n];
        uint8_t op = p->insts.at[u->inst].op;
        if (op == DH_I_LOAD)
            continue;
        bool fits = !u->valued || dh_value_test_holds(test, u->value);
        may_differ |= !fits || op == DH_I_RMW;
        if (!fits || u->initial)
            continue;
        if (!u->releases && op == DH_I_STORE)
            return false;
        signalled |= u->releases;
    }
    return signalled && may_differ;
}

/* A ticket: a value of fetch-and-add that no other thread gets. */
static bool is_ticket(struct dh_symex *w, uint32_t function, dh_value v)
{
    uint32_t inst = dh_value_definition(w, function, v);
    return inst != DH_NONE && w->program->insts.at[inst].op == DH_I_RMW &&
           w->program->insts.at[inst].extra == DH_BIN_ADD;
}

struct outcome {
    enum dh_sync_kind kind;
    uint16_t mode;
    bool orders;   /* as a lock that is waited for while others are held: counts for lock order */
    bool releases; /* stores the unlocked value */
};

static struct outcome of_load(struct dh_symex_step *t, const struct dh_atomic_test *l)
{
    bool one = l->test.relation == DH_CMP_EQ && !l->test.known && l->in_one;
    if (one && is_ticket(t->w, l->function, l->other))
        return (struct outcome){DH_SYNC_ATOMIC_LOCK, 0, true, false};
    if (one && l->function == t->f->function && dh_symex_is_thread_index(t->w, t->f, l->other))
        return (struct outcome){DH_SYNC_ATOMIC_LOCK, 0, false, false};
    return (struct outcome){DH_SYNC_ATOMIC_FLAG, 0, false, false};
}

static struct outcome of_rmw(const struct dh_program *p, const struct dh_inst *i, const struct dh_value_test *test)
{
    static const struct outcome lock = {DH_SYNC_ATOMIC_LOCK, 0, true, false},
                                semaphore = {DH_SYNC_ATOMIC_LOCK, 0, false, false},
                                last = {DH_SYNC_ATOMIC_LAST, 0, false, false}, nothing = {0};
    int64_t number;
    bool constant = dh_value_int(p, dh_operand(p, i, 1), &number);
    if (!test->known)
        return nothing;
    switch (i->extra) {
    case DH_BIN_XCHG: /* it was not set before */
        return constant && number && !dh_value_test_holds(test, number) && dh_value_test_holds(test, 0) ? lock
                                                                                                        : nothing;
    case DH_BIN_OR:
        return constant && test->relation == DH_CMP_EQ && test->number == 0 ? lock : nothing;
    case DH_BIN_ADD:
    case DH_BIN_SUB:
        if (test->relation == DH_CMP_EQ)
            return last;
        return (i->extra == DH_BIN_SUB || (constant && number < 0)) && !dh_value_test_holds(test, 0) &&
                       dh_value_test_holds(test, INT32_MAX)
                   ? semaphore
                   : nothing;
    default:
        return nothing;
    }
}

/* The compare-exchange succeeded. */
static struct outcome of_cas(struct dh_symex *w, const struct dh_atomic_test *l)
{
    const struct dh_program *p = w->program;
    const struct dh_inst *i = &p->insts.at[l->inst];
    dh_value old = dh_operand(p, i, 1), new = dh_operand(p, i, 2);
    int64_t was, by, is;
    bool constant = dh_value_int(p, old, &was);
    bool done = l->done || (constant && l->test.known && l->test.relation == DH_CMP_EQ && l->test.number == was) ||
                (!l->test.known && l->test.relation == DH_CMP_EQ && l->in_one && l->other == old);
    if (!done)
        return (struct outcome){0};
    bool number = dh_value_int(p, new, &is);
    if (constant && (!number || is != was))
        return number && was && !is ? (struct outcome){0, 0, false, true}
                                    : (struct outcome){DH_SYNC_ATOMIC_LOCK, 0, true, 0};
    uint32_t definition = dh_value_definition(w, l->function, new);
    if (constant || definition == DH_NONE || p->insts.at[definition].op != DH_I_BINARY ||
        !dh_value_int(p, dh_operand(p, &p->insts.at[definition], 1), &by))
        return (struct outcome){0};
    bool down = (p->insts.at[definition].extra == DH_BIN_SUB) == (by > 0);
    if (p->insts.at[definition].extra == DH_BIN_OR)
        return (struct outcome){DH_SYNC_ATOMIC_LOCK, 0, true, false};
    if (p->insts.at[definition].extra != DH_BIN_ADD && p->insts.at[definition].extra != DH_BIN_SUB)
        return (struct outcome){0};
    return (struct outcome){DH_SYNC_ATOMIC_LOCK, down ? 0 : 1, false, false}; /* a semaphore; one more reader */
}

static struct outcome outcome_of(struct dh_symex_step *t, const struct dh_atomic_test *l)
{
    const struct dh_inst *i = &t->w->program->insts.at[l->inst];
    if (i->op == DH_I_LOAD)
        return of_load(t, l);
    return i->op == DH_I_RMW ? of_rmw(t->w->program, i, &l->test) : of_cas(t->w, l);
}

/* ---- edges ---- */

enum { FLAGS_KEPT = 4 };

/* The last flags seen are kept. */
static void keep_flag_or_lock(struct dh_state *s, const struct dh_symex_lock *h)
{
    unsigned flags = 0, first = DH_LOCKS_MAX;
    for (unsigned n = 0; n < s->n_locks; n++)
        if (dh_symex_lock_is_flag(&s->locks[n])) {
            first = first == DH_LOCKS_MAX ? n : first;
            flags++;
        }
    if (dh_symex_lock_is_flag(h) && flags >= FLAGS_KEPT) {
        s->n_locks--;
        memmove(s->locks + first, s->locks + first + 1, (s->n_locks - first) * sizeof *s->locks);
    }
    dh_state_lock(s, h);
}

static void apply_outcome(struct dh_symex_step *t, const struct dh_atomic_test *l, unsigned side, bool leaves,
                          struct dh_state *s)
{
    struct dh_symex *w = t->w;
    const struct dh_atomic_sync *m = &w->state->atomics;
    struct dh_symex_lock h = dh_symex_lock_of_term(w, t->f, l->at, l->inst);
    struct dh_heap_cell at = location_of(w, (struct dh_heap_cell){h.node, h.offset}, l->inst);
    if (at.node == DH_NO_NODE)
        return;
    h.offset = at.offset;
    struct outcome found = outcome_of(t, l);
    if (found.releases)
        drop_atomic_locks(s, at);
    if (!found.kind ||
        (found.kind == DH_SYNC_ATOMIC_FLAG ? !is_signalled(m, at, &l->test, leaves) : !is_released_in_order(m, at)))
        return;
    h.sync_kind = (uint8_t)found.kind;
    h.mode = found.mode;
    h.pending = !l->acquires;
    if (found.kind == DH_SYNC_ATOMIC_FLAG) {
        h.test_known = l->test.known;
        h.test = l->test.known ? l->test.relation : DH_CMP_OTHER;
        h.number = l->test.known ? l->test.number : 0;
    }
    if (found.kind == DH_SYNC_ATOMIC_LOCK) {
        w->state->atomics.roles[l->inst] |= DH_ATOMIC_ACQUIRES;
        w->state->atomics.roles[t->inst] |= (uint8_t)(DH_ATOMIC_ACQUIRED << side);
    }
    if (t->records && found.kind == DH_SYNC_ATOMIC_LOCK && !h.pending)
        dh_symex_add_sync_event(w, t->f, s, &w->program->insts.at[l->inst], DH_SYMEX_LOCK, &h, &h,
                                leaves && found.orders ? 0 : DH_SYMEX_TRY);
    keep_flag_or_lock(s, &h);
}

/* A value tested in a loop is not the one tested before it. */
static bool is_stale(struct dh_symex_step *t, const struct dh_cfg *cfg, uint32_t loop, const struct dh_atomic_test *l)
{
    return l->function == t->f->function && loop != DH_NONE &&
           !dh_cfg_in_loop(cfg, loop, dh_program_block_of(t->w->program, l->inst) - cfg->first);
}

void dh_atomic_sync_edge(struct dh_symex_step *t, uint32_t to, uint32_t number, struct dh_state *s)
{
    struct dh_symex *w = t->w;
    struct dh_atomic_sync *m = &w->state->atomics;
    if (w->strict || t->i->op != DH_I_BRANCH)
        return;
    const struct dh_branch_tests *sides = dh_atomic_tests_of_branch(&m->looks, t->f->function, t->inst);
    if (!sides || number > 1)
        return;
    const struct dh_cfg *cfg = dh_symex_cfg(w, t->f->function);
    uint32_t loop = cfg->loop.at[t->block];
    bool leaves = loop != DH_NONE && !dh_cfg_in_loop(cfg, loop, to);
    for (unsigned n = 0; n < sides->n[number]; n++) {
        struct dh_atomic_test l = sides->at[number][n];
        m->roles[l.inst] |= l.acquires ? DH_ATOMIC_TESTED | DH_ATOMIC_TESTED_ACQUIRE : DH_ATOMIC_TESTED;
        if (w->state->second_pass && !(leaves && is_stale(t, cfg, loop, &l)))
            apply_outcome(t, &l, number, leaves, s);
    }
}
