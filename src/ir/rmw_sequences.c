/* Non-atomic read-modify-write and check-then-act sequences: a variable is read, and the value is computed with and
 * written back, or decides whether the variable is written or used again; an interleaved write of another thread is
 * lost. Within one function, for addresses that are computed alike, and only when no lock is acquired or released in
 * between: section_dataflow.c covers different sections. */
#include "ir/lock_analysis.h"
#include "ir/sites.h"

#include <stdlib.h>

enum { MOST_VALUES = 256, MOST_CANDIDATES = 64, MOST_UPDATES = 400000 };

struct access {
    LLVMValueRef instruction, address;
    uint32_t site, variable;
    bool write;
};

/* State of one function. */
struct search {
    struct dh_lock_analysis *a;
    struct dh_ptr_map region; /* instruction -> the lock call of the section it lies in */
    DH_VEC(struct access) accesses;
};

/* From one read. */
struct def_use_walk {
    struct search *s;
    const struct access *from;
    DH_VEC(const struct access *) candidates; /* other accesses of its variable that may belong to the same update */
    struct dh_ptr_map seen;
    DH_VEC(LLVMValueRef) ahead;
    unsigned n;
};

static void add_access(struct search *s, LLVMValueRef i)
{
    bool load = LLVMIsALoadInst(i);
    uint32_t site = load || LLVMIsAStoreInst(i) ? dh_ir_site_of(i) : DH_NO_SITE;
    if (site >= s->a->sites.n_sites)
        return;
    const struct dh_site *row = &s->a->sites.sites[site];
    if ((row->op == DH_OP_READ || row->op == DH_OP_WRITE) && row->variable)
        dh_vec_push(&s->accesses, (struct access){i, LLVMGetOperand(i, load ? 0 : 1), site, row->variable, !load});
}

static bool is_candidate(const struct def_use_walk *w, const struct access *x)
{
    const struct access *from = w->from;
    return x->instruction != from->instruction && dh_lock_same_value(x->address, from->address) &&
           dh_ptr_map_find(&w->s->region, x->instruction) == dh_ptr_map_find(&w->s->region, from->instruction);
}

static void record_sequence(struct def_use_walk *w, const struct access *x, uint32_t how)
{
    struct dh_lock_analysis *a = w->s->a;
    if (a->flows.n >= MOST_UPDATES)
        return;
    dh_vec_push(&a->flows, (struct dh_flow_row){w->from->site, DH_NO_SITE, how});
    dh_vec_push(&a->flows, (struct dh_flow_row){x->site, DH_NO_SITE, how});
}

/* ---- control dependence ---- */

/* Used for more than another test of the same condition (a retry loop). */
static bool is_used(LLVMValueRef load)
{
    for (LLVMUseRef u = LLVMGetFirstUse(load); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsAICmpInst(user) && !LLVMIsATruncInst(user) && !LLVMIsASwitchInst(user) && !LLVMIsABranchInst(user))
            return true;
    }
    return false;
}

static void propagate_to_branch(struct def_use_walk *w, LLVMValueRef branch)
{
    struct dh_ptr_map side[2] = {0};
    if (LLVMGetNumSuccessors(branch) != 2)
        return;
    for (unsigned i = 0; i < 2; i++)
        dh_lock_reachable_blocks(LLVMGetSuccessor(branch, i), LLVMGetInstructionParent(branch), &side[i]);
    for (size_t i = 0; i < w->candidates.n; i++) {
        const struct access *x = w->candidates.at[i];
        LLVMBasicBlockRef b = LLVMGetInstructionParent(x->instruction);
        if (!dh_ptr_map_find(&side[0], b) != !dh_ptr_map_find(&side[1], b) && (x->write || is_used(x->instruction)))
            record_sequence(w, x, DH_FLOW_CHECKS);
    }
    dh_ptr_map_release(&side[0]);
    dh_ptr_map_release(&side[1]);
}

/* ---- data dependence ---- */

static void push_value(struct def_use_walk *w, LLVMValueRef v)
{
    void **seen = dh_ptr_map_at(&w->seen, v);
    if (*seen || w->n >= MOST_VALUES)
        return;
    *seen = v;
    w->n++;
    dh_vec_push(&w->ahead, v);
}

static void propagate_to_store(struct def_use_walk *w, LLVMValueRef store, LLVMValueRef v)
{
    if (LLVMGetOperand(store, 0) != v)
        return;
    for (size_t i = 0; i < w->candidates.n; i++)
        if (w->candidates.at[i]->instruction == store)
            record_sequence(w, w->candidates.at[i], DH_FLOW_UPDATES);
}

static void propagate_to_user(struct def_use_walk *w, LLVMValueRef user, LLVMValueRef v)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(user);
    if (code == LLVMStore)
        propagate_to_store(w, user, v);
    else if (code == LLVMBr || code == LLVMSwitch)
        propagate_to_branch(w, user);
    else if (!dh_lock_is_call(user) || LLVMGetTypeKind(LLVMTypeOf(user)) != LLVMVoidTypeKind)
        push_value(w, user);
}

/* `first` to `end` are the accesses of its variable. */
static void follow_read(struct search *s, const struct access *from, const struct access *first,
                        const struct access *end)
{
    struct def_use_walk w = {.s = s, .from = from};
    for (const struct access *x = first; x < end; x++)
        if (is_candidate(&w, x))
            dh_vec_push(&w.candidates, x);
    if (w.candidates.n)
        push_value(&w, from->instruction);
    while (w.ahead.n) {
        LLVMValueRef v = w.ahead.at[--w.ahead.n];
        for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
            if (LLVMIsAInstruction(LLVMGetUser(u)))
                propagate_to_user(&w, LLVMGetUser(u), v);
    }
    dh_ptr_map_release(&w.seen);
    dh_vec_release(&w.ahead);
    dh_vec_release(&w.candidates);
}

/* ---- functions ---- */

struct region_visit {
    struct search *s;
    LLVMValueRef begin;
};

static void mark_region(void *arg, LLVMValueRef i)
{
    const struct region_visit *v = arg;
    void **at = dh_ptr_map_at(&v->s->region, i);
    if (!*at)
        *at = v->begin;
}

static void find_regions(struct search *s, const struct dh_lock_function *f)
{
    for (size_t k = 0; k < f->locking.n; k++) {
        bool direct;
        if (dh_lock_effect(s->a, f->locking.at[k], &direct) != DH_LOCK_ACQUIRES)
            continue;
        struct region_visit v = {s, f->locking.at[k]};
        struct dh_section_walk w = {.a = s->a, .begin = v.begin, .visit = mark_region, .arg = &v};
        dh_section_walk(&w);
        dh_section_walk_release(&w);
    }
}

static int by_variable(const void *x, const void *y)
{
    const struct access *r = x, *t = y;
    if (r->variable != t->variable)
        return r->variable < t->variable ? -1 : 1;
    return r->site < t->site ? -1 : r->site > t->site;
}

/* Variables with many accesses in a large function are left out. */
static void search_variable(struct search *s, const struct access *first, const struct access *end)
{
    if (end - first < 2 || end - first > MOST_CANDIDATES)
        return;
    for (const struct access *x = first; x < end; x++)
        if (!x->write)
            follow_read(s, x, first, end);
}

static void search_function(struct dh_lock_analysis *a, const struct dh_lock_function *f)
{
    struct search s = {.a = a};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->value); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            add_access(&s, i);
    find_regions(&s, f);
    if (s.accesses.n)
        qsort(s.accesses.at, s.accesses.n, sizeof *s.accesses.at, by_variable);
    for (size_t i = 0, k; i < s.accesses.n; i = k) {
        for (k = i + 1; k < s.accesses.n && s.accesses.at[k].variable == s.accesses.at[i].variable; k++)
            ;
        search_variable(&s, &s.accesses.at[i], s.accesses.at + k);
    }
    dh_ptr_map_release(&s.region);
    dh_vec_release(&s.accesses);
}

void dh_lock_find_rmw_sequences(struct dh_lock_analysis *a)
{
    for (size_t i = 0; i < a->all.n; i++)
        search_function(a, a->all.at[i]);
}
