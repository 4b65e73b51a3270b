#include "instrument/heal_object_locks.h"

#include "base/alloc.h"
#include "instrument/places.h"
#include "ir/sites.h"

#include <stdlib.h>

enum { STEPS = 16, ROUNDS = 64, MOST_BYTES = 8 };

/* An address as base plus constant offset. */
struct address {
    LLVMValueRef root;
    int64_t offset;
};

struct summariser {
    struct dh_heal_object_locks *o;
    struct dh_pass *pass;
    const struct dh_heal_sections *s;
    dh_value_vec functions, work;
    uint32_t group;
    struct dh_heal_summary *summaries; /* of the group, per function */
    bool by_pointer;                   /* functions that are called through pointers may access it */
    /* of the current function */
    struct address only; /* the only address it accesses, while there is one */
    bool several, changed;
    uint8_t writes;
};

/* ---- addresses ---- */

static bool constant_gep(const struct dh_pass *pass, LLVMValueRef gep, int64_t *bytes)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (unsigned i = 1; i <= LLVMGetNumIndices(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (!LLVMIsAConstantInt(index))
            return false;
        int64_t at = LLVMConstIntGetSExtValue(index);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            *bytes += (int64_t)LLVMOffsetOfElement(pass->layout, type, (unsigned)at);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)at);
            continue;
        }
        if (i > 1)
            type = LLVMGetElementType(type);
        *bytes += at * (int64_t)LLVMABISizeOfType(pass->layout, type);
    }
    return true;
}

static struct address address_of(const struct dh_pass *pass, LLVMValueRef v)
{
    struct address a = {v, 0};
    for (int i = 0; i < STEPS; i++) {
        bool constant = LLVMIsAConstantExpr(a.root);
        if (LLVMIsABitCastInst(a.root)) {
            a.root = LLVMGetOperand(a.root, 0);
            continue;
        }
        if (!LLVMIsAGetElementPtrInst(a.root) && !(constant && LLVMGetConstOpcode(a.root) == LLVMGetElementPtr))
            break;
        int64_t bytes = 0;
        if (!constant_gep(pass, a.root, &bytes))
            break;
        a.offset += bytes;
        a.root = LLVMGetOperand(a.root, 0);
    }
    return a;
}

/* ---- summaries of functions ---- */

static bool is_of(const struct summariser *d, uint32_t site)
{
    const struct dh_heal_plan *p = d->s->plan;
    uint32_t variable = site < p->n_marks ? dh_site_mark_variable(p->marks[site]) : 0;
    return variable && p->policy.variable_of[variable - 1] == d->group;
}

static unsigned argument_number(LLVMValueRef f, LLVMValueRef argument)
{
    unsigned i = 0;
    while (LLVMGetParam(f, i) != argument)
        i++;
    return i;
}

enum { MANY = 2 };

static void count_writes(struct summariser *d, unsigned more)
{
    d->writes = d->writes + more > MANY ? MANY : (uint8_t)(d->writes + more);
}

static void add_unknown_access(struct summariser *d, struct dh_heal_summary *t)
{
    d->changed |= !t->other;
    t->any = t->other = true;
    d->several = true;
    d->writes = MANY;
}

/* Whether the block is on a cycle of the control flow graph. */
static bool is_in_loop(LLVMBasicBlockRef block)
{
    DH_VEC(LLVMBasicBlockRef) way = {0};
    struct dh_u64_set seen = {0};
    bool again = false;
    dh_vec_push(&way, block);
    while (way.n && !again) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(way.at[--way.n]);
        for (unsigned i = 0, n = end ? LLVMGetNumSuccessors(end) : 0; i < n; i++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
            again |= next == block;
            if (dh_u64_set_add_pointer(&seen, next))
                dh_vec_push(&way, next);
        }
    }
    dh_vec_release(&way);
    dh_u64_set_release(&seen);
    return again;
}

static void add_access(struct summariser *d, LLVMValueRef f, struct dh_heal_summary *t, struct address a)
{
    d->several |= d->only.root && (d->only.root != a.root || d->only.offset != a.offset);
    d->only = a;
    d->changed |= !t->any;
    t->any = true;
    if (!LLVMIsAArgument(a.root)) {
        d->changed |= !t->other;
        t->other = true;
        return;
    }
    struct dh_heal_object_argument o = {argument_number(f, a.root), a.offset};
    for (unsigned i = 0; i < t->n; i++)
        if (t->at[i].argument == o.argument && t->at[i].offset == o.offset)
            return;
    d->changed = true;
    if (t->n == DH_HEAL_OBJECTS)
        t->other = true;
    else
        t->at[t->n++] = o;
}

static bool passes_function(LLVMValueRef call)
{
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++)
        if (LLVMIsAFunction(LLVMGetOperand(call, i)))
            return true;
    return false;
}

static void summarise_call(struct summariser *d, LLVMValueRef f, struct dh_heal_summary *t, LLVMValueRef call)
{
    LLVMValueRef called = dh_called_function(call);
    uint64_t *known = called ? dh_u64_map_find(&d->o->index, (uintptr_t)called) : NULL;
    if (!known) {
        if (d->by_pointer && (called ? passes_function(call) : !LLVMIsAInlineAsm(LLVMGetCalledValue(call))))
            add_unknown_access(d, t);
        return;
    }
    struct dh_heal_summary callee = d->summaries[*known];
    if (callee.other)
        add_unknown_access(d, t);
    if (callee.writes)
        count_writes(d, is_in_loop(LLVMGetInstructionParent(call)) ? MANY : callee.writes);
    for (unsigned i = 0; i < callee.n; i++) {
        struct address a = address_of(d->pass, LLVMGetOperand(call, callee.at[i].argument));
        a.offset += callee.at[i].offset;
        add_access(d, f, t, a);
    }
}

static void summarise_function(struct summariser *d, size_t number)
{
    LLVMValueRef f = d->functions.at[number];
    struct dh_heal_summary *t = &d->summaries[number];
    struct dh_memop a;
    d->only = (struct address){NULL, 0};
    d->several = false;
    d->writes = 0;
    d->work.n = 0;
    dh_pass_collect_memops(f, &d->work);
    for (size_t i = 0; i < d->work.n; i++) {
        LLVMValueRef at = d->work.at[i];
        if (is_of(d, dh_ir_site_of(at)) && dh_memop_of(d->pass, at, &a) && a.addr) {
            add_access(d, f, t, address_of(d->pass, a.addr));
            if (a.op != DH_OP_READ && a.op != DH_OP_ATOMIC_LOAD)
                count_writes(d, is_in_loop(LLVMGetInstructionParent(at)) ? MANY : 1);
        } else if (dh_is_call(at) && !dh_is_intrinsic_call(at)) {
            summarise_call(d, f, t, at);
        }
    }
    d->changed |= d->writes != t->writes;
    t->writes = d->writes;
}

bool dh_heal_is_address_taken(LLVMValueRef f)
{
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsAInstruction(user) || !dh_is_call(user) || LLVMGetCalledValue(user) != f || passes_function(user))
            return true;
    }
    return false;
}

static void solve(struct summariser *d)
{
    d->changed = true;
    d->by_pointer = false;
    for (int round = 0; d->changed && round < ROUNDS; round++) {
        d->changed = false;
        for (size_t i = 0; i < d->functions.n; i++) {
            summarise_function(d, i);
            if (d->summaries[i].any && !d->by_pointer && dh_heal_is_address_taken(d->functions.at[i]))
                d->by_pointer = d->changed = true;
        }
    }
}

/* ---- whether locks per object suffice ---- */

/* Has one value in the whole activation. */
static bool is_invariant(LLVMValueRef f, LLVMValueRef v)
{
    return !LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) == LLVMGetEntryBasicBlock(f);
}

static bool is_entry(const struct summariser *d, uint32_t site, bool *whole)
{
    const struct dh_sections *f = &d->s->plan->policy.file;
    uint32_t point = site < d->s->plan->n_marks ? dh_site_mark_point(d->s->plan->marks[site]) : 0;
    for (uint32_t i = 0; point && i < f->n_points; i++)
        if (f->points[i].site == point - 1 && f->points[i].role == DH_SECTION_ENTRY &&
            d->s->plan->policy.group_of[f->points[i].section] == d->group) {
            *whole = d->s->ops[site] == DH_OP_FUNCTION;
            return true;
        }
    return false;
}

/* A section that is the function locks the objects of its summary; one from access to access must have a single
 * object. */
static bool has_known_objects(struct summariser *d, size_t number)
{
    LLVMValueRef f = d->functions.at[number];
    struct dh_heal_summary *t = &d->summaries[number];
    bool whole = false, partly = false, ignored = false;
    uint32_t own = dh_ir_function_site(f);
    if (own != DH_NO_SITE && own < d->s->n_sites)
        is_entry(d, own, &whole);
    d->work.n = 0;
    dh_pass_collect_memops(f, &d->work);
    for (size_t i = 0; i < d->work.n; i++) {
        uint32_t site = dh_ir_site_of(d->work.at[i]);
        if (site >= d->s->n_sites || !is_entry(d, site, &ignored))
            continue;
        if (!is_of(d, site))
            return false;
        partly = true;
    }
    if (whole)
        return t->n && !t->other;
    if (!partly)
        return true;
    summarise_function(d, number);
    return !d->several && d->only.root && is_invariant(f, d->only.root);
}

static bool is_of_one_variable(const struct summariser *d)
{
    const struct dh_heal_policy *p = &d->s->plan->policy;
    unsigned names = 0;
    for (uint32_t i = 0; i < p->file.n_names; i++)
        names += p->variable_of[i] == d->group;
    return names == 1 && p->groups[d->group].means == DH_HEAL_LOCK;
}

static bool is_local(const struct summariser *d)
{
    for (uint32_t i = 0; i < d->s->plan->policy.file.n_sections; i++)
        if (d->s->plan->policy.group_of[i] == d->group && !d->s->is_local[i])
            return false;
    return true;
}

/* The variable is a member or element of at most eight bytes, and no copy moves it together with others. */
static bool has_objects(const struct summariser *d)
{
    struct dh_site_table t = dh_site_builder_view(d->pass->places->sites);
    bool any = false;
    for (uint32_t i = 0; i < t.n_sites; i++) {
        const struct dh_site *s = &t.sites[i];
        if (!is_of(d, i))
            continue;
        bool scalar = dh_op_info(s->op)->group == DH_GROUP_ACCESS && s->size && s->size <= MOST_BYTES &&
                      !(s->flags & (DH_SITE_BITFIELD | DH_SITE_VECTOR | DH_SITE_SIZE_VARIES));
        if (!scalar || (s->flags & (DH_SITE_GLOBAL | DH_SITE_LOCAL) && !(s->flags & DH_SITE_ELEMENT)))
            return false;
        any = true;
    }
    return any;
}

static bool can_be_by_object(struct summariser *d)
{
    bool can = !d->s->plan->is_library && is_local(d) && has_objects(d);
    for (size_t i = 0; can && i < d->functions.n; i++)
        can = has_known_objects(d, i);
    return can;
}

static void analyse_group(struct summariser *d)
{
    if (!is_of_one_variable(d))
        return;
    d->summaries = d->o->summaries[d->group] = dh_xcalloc(d->functions.n + 1, sizeof *d->summaries);
    solve(d);
    if (can_be_by_object(d))
        d->o->groups |= (uint64_t)1 << d->group;
}

/* ---- functions that may wait for other threads ---- */

bool dh_heal_op_may_wait(uint8_t op)
{
    return op == DH_OP_COND_WAIT || op == DH_OP_BARRIER_WAIT || op == DH_OP_SEM_WAIT || op == DH_OP_THREAD_JOIN;
}

static bool call_waits(const struct summariser *d, LLVMValueRef call)
{
    LLVMValueRef called = dh_called_function(call);
    uint64_t *known = called ? dh_u64_map_find(&d->o->index, (uintptr_t)called) : NULL;
    uint32_t site = dh_ir_site_of(call);
    if (site < d->s->n_sites && dh_heal_op_may_wait(d->s->ops[site]))
        return true;
    if (known)
        return d->o->may_wait[*known];
    return called ? passes_function(call) : !LLVMIsAInlineAsm(LLVMGetCalledValue(call));
}

static bool function_waits(struct summariser *d, size_t number)
{
    d->work.n = 0;
    dh_pass_collect_memops(d->functions.at[number], &d->work);
    for (size_t i = 0; i < d->work.n; i++)
        if (dh_is_call(d->work.at[i]) && !dh_is_intrinsic_call(d->work.at[i]) && call_waits(d, d->work.at[i]))
            return true;
    return false;
}

static void find_waits(struct summariser *d)
{
    d->o->may_wait = dh_xcalloc(d->functions.n + 1, sizeof *d->o->may_wait);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < d->functions.n; i++)
            if (!d->o->may_wait[i] && function_waits(d, i))
                d->o->may_wait[i] = changed = true;
    }
}

void dh_heal_object_locks_find(struct dh_heal_object_locks *o, struct dh_pass *pass, const struct dh_heal_sections *s)
{
    struct summariser d = {.o = o, .pass = pass, .s = s};
    for (LLVMValueRef f = LLVMGetFirstFunction(pass->m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) {
            *dh_u64_map_at(&o->index, (uintptr_t)f) = d.functions.n;
            dh_vec_push(&d.functions, f);
        }
    find_waits(&d);
    for (d.group = 0; d.group < s->plan->policy.n_groups; d.group++)
        analyse_group(&d);
    dh_vec_release(&d.functions);
    dh_vec_release(&d.work);
}

/* Calls through pointers may call any function whose address is taken: such a function counts as recursive. */
bool dh_heal_object_locks_is_recursive(const struct dh_heal_object_locks *o, LLVMValueRef function)
{
    dh_value_vec way = {0};
    struct dh_u64_set seen = {0};
    bool again = dh_heal_is_address_taken(function);
    dh_vec_push(&way, function);
    while (way.n && !again) {
        LLVMValueRef f = way.at[--way.n];
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                LLVMValueRef called = dh_is_call(i) ? dh_called_function(i) : NULL;
                again |= called == function;
                if (called && dh_u64_map_find(&o->index, (uintptr_t)called) && dh_u64_set_add_pointer(&seen, called))
                    dh_vec_push(&way, called);
            }
    }
    dh_vec_release(&way);
    dh_u64_set_release(&seen);
    return again;
}

void dh_heal_object_locks_release(struct dh_heal_object_locks *o)
{
    for (int i = 0; i < DH_HEAL_MOST_GROUPS; i++)
        free(o->summaries[i]);
    free(o->may_wait);
    dh_u64_map_release(&o->index);
}

const struct dh_heal_summary *dh_heal_object_locks_summary(const struct dh_heal_object_locks *o, uint32_t group,
                                                           LLVMValueRef function)
{
    uint64_t *known = dh_u64_map_find(&o->index, (uintptr_t)function);
    return known && o->summaries[group] ? &o->summaries[group][*known] : NULL;
}
