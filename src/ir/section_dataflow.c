/* Dataflow from reads to later critical sections (stale-value detection): a value is read, and it, or what was computed
 * from it, is used in a section that begins later, passed to a function that has one, or decides by a branch whether
 * one is entered. Whether the read itself was in a section is known at run time only.
 *
 * Def-use chains are followed through registers and local variables; between functions by summaries of results, of
 * output pointers to locals, and of arguments. Pointers are followed to branches only: using an object later that was
 * found under a lock is how programs are written. Not followed: values through shared memory, calls through
 * pointers. */
#include "base/alloc.h"
#include "ir/lock_analysis.h"
#include "ir/sites.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_READS = 32, MOST_LOCKS = 32, MOST_FLOWS = 200000, MOST_SIBLINGS = 16, DEPTH = 5 };

/* A read that a value depends on; `test`: control dependent only, not by data. */
struct source {
    uint32_t read;
    bool test;
};

struct sources {
    struct source at[MOST_READS];
    unsigned n;
};

/* Summary of a function for its callers. */
struct dh_lock_flow {
    bool busy, done;
    struct sources result, filled; /* what it returns; what it writes through its pointer arguments */
    uint32_t locks[MOST_LOCKS];    /* lock calls in it and in its callees */
    unsigned n_locks;
    bool locks_done;
};

/* An access, by function and variable. */
struct sibling {
    uint64_t key;
    uint32_t site;
};

/* Calls that are control dependent on a branch. */
struct dependent {
    DH_VEC(LLVMValueRef) calls;
};

/* State of one function. */
struct tracing {
    struct dh_lock_analysis *a;
    struct dh_lock_function *f;
    struct dh_ptr_map region; /* instruction -> 1 + index into `locks` of the section it lies in */
    DH_VEC(uint32_t) locks;
    DH_VEC(LLVMValueRef) acquiring; /* calls that acquire a lock, directly or in callees */
    struct dh_ptr_map branches;     /* -> struct dependent */
    DH_VEC(struct dependent *) dependents;
    bool emit;
};

struct follow {
    struct tracing *t;
    LLVMValueRef origin;
    struct source from;
    struct dh_ptr_map seen;
    DH_VEC(LLVMValueRef) ahead;
    bool returned, filled;
};

static void add_source(struct sources *s, struct source new)
{
    for (unsigned i = 0; i < s->n; i++)
        if (s->at[i].read == new.read) {
            s->at[i].test = s->at[i].test && new.test;
            return;
        }
    if (s->n < MOST_READS)
        s->at[s->n++] = new;
}

static void add_flow(struct dh_lock_analysis *a, uint32_t read, uint32_t lock, uint32_t how)
{
    if (a->flows.n < MOST_FLOWS)
        dh_vec_push(&a->flows, (struct dh_flow_row){read, lock, how});
}

static struct dh_lock_flow *flow_of(struct dh_lock_function *f)
{
    if (!f->flow)
        f->flow = dh_xcalloc(1, sizeof *f->flow);
    return f->flow;
}

void dh_lock_flow_free(struct dh_lock_flow *f)
{
    free(f);
}

/* ---- lock calls in a function and below ---- */

static void add_lock(struct dh_lock_flow *w, uint32_t site)
{
    for (unsigned i = 0; i < w->n_locks; i++)
        if (w->locks[i] == site)
            return;
    if (w->n_locks < MOST_LOCKS)
        w->locks[w->n_locks++] = site;
}

static const struct dh_lock_flow *locks_in(struct dh_lock_analysis *a, struct dh_lock_function *f)
{
    struct dh_lock_flow *w = flow_of(f);
    if (w->locks_done)
        return w;
    w->locks_done = true;
    for (size_t i = 0; i < f->locking.n; i++) {
        bool direct;
        LLVMValueRef call = f->locking.at[i];
        struct dh_lock_function *callee = dh_lock_callee(a, call);
        if (dh_lock_effect(a, call, &direct) == DH_LOCK_ACQUIRES && direct)
            add_lock(w, dh_ir_site_of(call));
        if (!callee || callee == f)
            continue;
        const struct dh_lock_flow *below = locks_in(a, callee);
        for (unsigned k = 0; k < below->n_locks; k++)
            add_lock(w, below->locks[k]);
    }
    return w;
}

/* ---- sinks: critical sections that a value reaches ---- */

static void add_flow_to_lock(struct follow *w, uint32_t lock, uint32_t how)
{
    if (w->t->emit && lock != DH_NO_SITE)
        add_flow(w->t->a, w->from.read, lock, how);
}

static void add_flow_to_call(struct follow *w, LLVMValueRef call, uint32_t how)
{
    bool direct;
    if (dh_lock_effect(w->t->a, call, &direct) == DH_LOCK_ACQUIRES && direct) {
        if (how == DH_FLOW_CONTROL)
            add_flow_to_lock(w, dh_ir_site_of(call), how);
        return;
    }
    struct dh_lock_function *callee = dh_lock_callee(w->t->a, call);
    if (!callee)
        return;
    const struct dh_lock_flow *below = locks_in(w->t->a, callee);
    for (unsigned i = 0; i < below->n_locks; i++)
        add_flow_to_lock(w, below->locks[i], how);
}

static uintptr_t region_of(const struct tracing *t, LLVMValueRef i)
{
    return (uintptr_t)dh_ptr_map_find(&t->region, i);
}

/* ---- branches ---- */

void dh_lock_reachable_blocks(LLVMBasicBlockRef from, LLVMBasicBlockRef not_by, struct dh_ptr_map *seen)
{
    DH_VEC(LLVMBasicBlockRef) ahead = {0};
    if (from != not_by) {
        *dh_ptr_map_at(seen, from) = from;
        dh_vec_push(&ahead, from);
    }
    while (ahead.n) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(ahead.at[--ahead.n]);
        for (unsigned s = 0; last && s < LLVMGetNumSuccessors(last); s++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(last, s);
            void **at = dh_ptr_map_at(seen, next);
            if (!*at && next != not_by) {
                *at = next;
                dh_vec_push(&ahead, next);
            }
        }
    }
    dh_vec_release(&ahead);
}

/* Calls that acquire a lock and are control dependent on the branch: reachable on one side only. Computed once for a
 * branch. */
static struct dependent *control_dependents(struct tracing *t, LLVMValueRef branch)
{
    void **known = dh_ptr_map_at(&t->branches, branch);
    if (*known)
        return *known;
    struct dependent *d = dh_xcalloc(1, sizeof *d);
    struct dh_ptr_map side[2] = {0};
    *known = d;
    for (unsigned s = 0; s < 2; s++)
        dh_lock_reachable_blocks(LLVMGetSuccessor(branch, s), LLVMGetInstructionParent(branch), &side[s]);
    for (size_t i = 0; i < t->acquiring.n; i++) {
        LLVMBasicBlockRef b = LLVMGetInstructionParent(t->acquiring.at[i]);
        if (!dh_ptr_map_find(&side[0], b) != !dh_ptr_map_find(&side[1], b))
            dh_vec_push(&d->calls, t->acquiring.at[i]);
    }
    dh_ptr_map_release(&side[0]);
    dh_ptr_map_release(&side[1]);
    dh_vec_push(&t->dependents, d);
    return d;
}

static void propagate_to_branch(struct follow *w, LLVMValueRef branch)
{
    if (!w->t->emit || !w->t->acquiring.n || LLVMGetNumSuccessors(branch) != 2)
        return;
    const struct dependent *d = control_dependents(w->t, branch);
    for (size_t i = 0; i < d->calls.n; i++)
        add_flow_to_call(w, d->calls.at[i], DH_FLOW_CONTROL);
}

/* ---- following a value ---- */

static void push_value(struct follow *w, LLVMValueRef v)
{
    void **seen = dh_ptr_map_at(&w->seen, v);
    if (*seen)
        return;
    *seen = v;
    dh_vec_push(&w->ahead, v);
}

static LLVMValueRef root_of(LLVMValueRef p)
{
    while (LLVMIsAGetElementPtrInst(p))
        p = LLVMGetOperand(p, 0);
    return p;
}

/* Loads from a local variable or a part of it. */
static void push_loads(struct follow *w, LLVMValueRef pointer, int depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(pointer); u && depth > 0; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsALoadInst(user))
            push_value(w, user);
        else if (LLVMIsAGetElementPtrInst(user) && LLVMGetOperand(user, 0) == pointer)
            push_loads(w, user, depth - 1);
    }
}

static void propagate_to_store(struct follow *w, LLVMValueRef store, LLVMValueRef v)
{
    if (LLVMGetOperand(store, 0) != v)
        return;
    LLVMValueRef to = root_of(LLVMGetOperand(store, 1));
    if (LLVMIsAAllocaInst(to))
        push_loads(w, to, DEPTH);
    else if (LLVMIsAArgument(to))
        w->filled = true;
}

static void propagate_to_call(struct follow *w, LLVMValueRef call, LLVMValueRef v)
{
    bool direct;
    if (LLVMGetCalledValue(call) == v || dh_lock_is_pointer(v))
        return;
    if (dh_lock_effect(w->t->a, call, &direct) != DH_LOCK_NO_EFFECT && direct)
        return;
    if (!w->from.test)
        add_flow_to_call(w, call, DH_FLOW_DATA);
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(call));
    if (kind != LLVMVoidTypeKind && kind != LLVMPointerTypeKind)
        push_value(w, call);
}

static bool propagates(LLVMValueRef user, LLVMValueRef v)
{
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMGetElementPtr:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return false;
    case LLVMICmp:
        return true;
    default:
        return !dh_lock_is_pointer(v) || LLVMIsAPHINode(user) || LLVMIsASelectInst(user);
    }
}

static void propagate_to_user(struct follow *w, LLVMValueRef user, LLVMValueRef v)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(user);
    uintptr_t region = region_of(w->t, user);
    if (region && region != region_of(w->t, w->origin) && !w->from.test && !dh_lock_is_pointer(v) &&
        !LLVMIsAPHINode(user))
        add_flow_to_lock(w, w->t->locks.at[region - 1], DH_FLOW_DATA);
    if (code == LLVMStore)
        propagate_to_store(w, user, v);
    else if (code == LLVMRet)
        w->returned = true;
    else if (code == LLVMBr || code == LLVMSwitch) {
        if (w->t->emit && w->from.read != DH_NO_SITE && LLVMIsALoadInst(w->origin))
            add_flow(w->t->a, w->from.read, DH_NO_SITE, DH_FLOW_DECIDES);
        propagate_to_branch(w, user);
    } else if (dh_lock_is_call(user))
        propagate_to_call(w, user, v);
    else if (propagates(user, v))
        push_value(w, user);
}

static void follow_value(struct tracing *t, LLVMValueRef origin, LLVMValueRef first, struct source from)
{
    struct follow w = {.t = t, .origin = origin, .from = from};
    bool decides = false;
    struct dh_lock_flow *own = flow_of(t->f);
    if (first)
        push_value(&w, first);
    else /* output parameters: locals that the callee wrote */
        for (unsigned i = 0; i < LLVMGetNumArgOperands(origin); i++) {
            LLVMValueRef p = root_of(LLVMGetOperand(origin, i));
            if (LLVMIsAAllocaInst(p))
                push_loads(&w, p, DEPTH);
        }
    while (w.ahead.n) {
        LLVMValueRef v = w.ahead.at[--w.ahead.n];
        for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            if (!LLVMIsAInstruction(user))
                continue;
            decides = decides || LLVMIsABranchInst(user) || LLVMIsASwitchInst(user);
            propagate_to_user(&w, user, v);
        }
    }
    if (w.returned)
        add_source(&own->result, from);
    else if (decides) /* return x ? A : B */
        add_source(&own->result, (struct source){from.read, true});
    if (w.filled)
        add_source(&own->filled, from);
    dh_ptr_map_release(&w.seen);
    dh_vec_release(&w.ahead);
}

/* ---- functions ---- */

static void summarise(struct dh_lock_analysis *a, struct dh_lock_function *f, bool emit);

static void follow_all(struct tracing *t, LLVMValueRef origin, LLVMValueRef first, const struct sources *from)
{
    for (unsigned i = 0; i < from->n; i++)
        follow_value(t, origin, first, from->at[i]);
}

static void trace_instruction(struct tracing *t, LLVMValueRef i)
{
    if (LLVMIsALoadInst(i)) {
        uint32_t site = dh_ir_site_of(i);
        if (site < t->a->sites.n_sites && t->a->sites.sites[site].op == DH_OP_READ)
            follow_value(t, i, i, (struct source){site, false});
        return;
    }
    struct dh_lock_function *callee = dh_lock_is_call(i) ? dh_lock_callee(t->a, i) : NULL;
    if (!callee || callee == t->f)
        return;
    summarise(t->a, callee, false);
    follow_all(t, i, i, &flow_of(callee)->result);
    follow_all(t, i, NULL, &flow_of(callee)->filled);
}

struct region_visit {
    struct tracing *t;
    uintptr_t number;
};

static void mark_region(void *arg, LLVMValueRef i)
{
    struct region_visit *v = arg;
    void **at = dh_ptr_map_at(&v->t->region, i);
    if (!*at)
        *at = (void *)v->number; // NOLINT: a number in a map of pointers
}

static void find_regions(struct tracing *t)
{
    for (size_t k = 0; k < t->f->locking.n; k++) {
        bool direct;
        LLVMValueRef call = t->f->locking.at[k];
        struct dh_lock_function *callee = dh_lock_callee(t->a, call);
        bool begins = dh_lock_effect(t->a, call, &direct) == DH_LOCK_ACQUIRES;
        if ((begins && direct) || (callee && locks_in(t->a, callee)->n_locks))
            dh_vec_push(&t->acquiring, call);
        if (!begins)
            continue;
        uint32_t site = dh_ir_site_of(call);
        if (!direct) {
            const struct dh_lock_flow *below = locks_in(t->a, callee);
            site = below->n_locks ? below->locks[0] : DH_NO_SITE;
        }
        dh_vec_push(&t->locks, site);
        struct region_visit v = {t, t->locks.n};
        struct dh_section_walk w = {.a = t->a, .begin = call, .visit = mark_region, .arg = &v};
        dh_section_walk(&w);
        dh_section_walk_release(&w);
    }
}

/* With `emit`, flows are recorded; without, only the summary for callers is computed. */
static void summarise(struct dh_lock_analysis *a, struct dh_lock_function *f, bool emit)
{
    struct dh_lock_flow *own = flow_of(f);
    if (own->busy || (own->done && !emit))
        return;
    own->busy = true;
    struct tracing t = {.a = a, .f = f, .emit = emit};
    if (emit)
        find_regions(&t);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->value); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            trace_instruction(&t, i);
    for (size_t i = 0; i < t.dependents.n; i++) {
        dh_vec_release(&t.dependents.at[i]->calls);
        free(t.dependents.at[i]);
    }
    dh_vec_release(&t.dependents);
    dh_vec_release(&t.acquiring);
    dh_ptr_map_release(&t.branches);
    dh_ptr_map_release(&t.region);
    dh_vec_release(&t.locks);
    own->busy = false;
    own->done = true;
}

static int by_sites(const void *x, const void *y)
{
    const struct dh_flow_row *r = x, *s = y;
    if (r->read != s->read)
        return r->read < s->read ? -1 : 1;
    return r->lock < s->lock ? -1 : r->lock > s->lock;
}

void dh_lock_sort_flows(struct dh_lock_analysis *a)
{
    size_t n = 0;
    if (a->flows.n)
        qsort(a->flows.at, a->flows.n, sizeof *a->flows.at, by_sites);
    for (size_t i = 0; i < a->flows.n; i++) {
        struct dh_flow_row *r = &a->flows.at[i];
        if (n && a->flows.at[n - 1].read == r->read && a->flows.at[n - 1].lock == r->lock)
            a->flows.at[n - 1].how |= r->how;
        else
            a->flows.at[n++] = *r;
    }
    a->flows.n = n;
}

static uint64_t sibling_key(const struct dh_site *s)
{
    return (uint64_t)s->function << 32 | s->variable;
}

static int by_sibling(const void *x, const void *y)
{
    const struct sibling *r = x, *s = y;
    if (r->key != s->key)
        return r->key < s->key ? -1 : 1;
    return r->site < s->site ? -1 : r->site > s->site;
}

/* Optimisation merges reads of one variable in a function, and the remaining one need not be the one whose value flows
 * on: flows of one are recorded for all. A read followed by a write may have no event of its own: flows are recorded
 * for writes as well. */
static void add_siblings(struct dh_lock_analysis *a)
{
    DH_VEC(struct sibling) accesses = {0};
    size_t n = a->flows.n;
    for (uint32_t i = 0; i < a->sites.n_sites; i++)
        if ((a->sites.sites[i].op == DH_OP_READ || a->sites.sites[i].op == DH_OP_WRITE) && a->sites.sites[i].variable)
            dh_vec_push(&accesses, (struct sibling){sibling_key(&a->sites.sites[i]), i});
    if (accesses.n)
        qsort(accesses.at, accesses.n, sizeof *accesses.at, by_sibling);
    for (size_t i = 0; i < n && accesses.n; i++) {
        const struct dh_flow_row r = a->flows.at[i];
        if (r.read >= a->sites.n_sites)
            continue;
        uint64_t key = sibling_key(&a->sites.sites[r.read]);
        size_t low = 0, high = accesses.n;
        while (low < high) {
            size_t mid = low + (high - low) / 2;
            if (accesses.at[mid].key < key)
                low = mid + 1;
            else
                high = mid;
        }
        for (unsigned k = 0; k < MOST_SIBLINGS && low < accesses.n && accesses.at[low].key == key; k++, low++)
            if (accesses.at[low].site != r.read)
                add_flow(a, accesses.at[low].site, r.lock, r.how);
    }
    dh_vec_release(&accesses);
}

void dh_lock_find_dataflow(struct dh_lock_analysis *a)
{
    for (size_t i = 0; i < a->all.n; i++)
        if (locks_in(a, a->all.at[i])->n_locks)
            summarise(a, a->all.at[i], true);
    dh_lock_sort_flows(a);
    add_siblings(a);
}
