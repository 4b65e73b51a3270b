#include "instrument/redundant_checks.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 32 }; /* addresses remembered in a region; beyond, the oldest are dropped */

struct checked {
    LLVMValueRef addr;
    uint64_t bytes;
    bool writes;
    unsigned classes;
    size_t at; /* in the work list; ELSEWHERE: in a dominating block, where it stays */
};
#define ELSEWHERE SIZE_MAX

struct region {
    struct checked checked[WINDOW];
    unsigned n, oldest;
    LLVMBasicBlockRef block;
};

static struct checked *find_checked(struct region *p, LLVMValueRef addr)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->checked[i].addr == addr)
            return &p->checked[i];
    return NULL;
}

static void remember(struct region *p, const struct checked *s)
{
    if (p->n < WINDOW) {
        p->checked[p->n++] = *s;
        return;
    }
    p->checked[p->oldest] = *s;
    p->oldest = (p->oldest + 1) % WINDOW;
}

static void begin_region(struct region *p, LLVMBasicBlockRef block)
{
    p->n = p->oldest = 0;
    p->block = block;
}

/* Debug and lifetime intrinsics and arithmetic neither order nor free anything. */
bool dh_memop_ends_sync_free_region(const struct dh_memop *a)
{
    if (a->kind == DH_MEMOP_CALL)
        return !dh_is_intrinsic_call(a->at);
    return a->kind == DH_MEMOP_ATOMIC || a->kind == DH_MEMOP_FENCE;
}

static void eliminate(struct region *p, dh_value_vec *work, size_t at, const struct dh_memop *a, unsigned classes)
{
    struct checked now = {a->addr, a->bytes, a->op == DH_OP_WRITE, classes, at}, *before = find_checked(p, a->addr);
    if (!before) {
        remember(p, &now);
    } else if (before->bytes >= now.bytes && (before->writes || !now.writes) && !(now.classes & ~before->classes)) {
        work->at[at] = NULL;
    } else if (now.bytes >= before->bytes && (now.writes || !before->writes) && !(before->classes & ~now.classes)) {
        /* A read, then a write: the write's check covers both. */
        if (before->at != ELSEWHERE)
            work->at[before->at] = NULL;
        *before = now;
    }
}

/* ---- across blocks: available checks, a forward must-dataflow analysis ---- */

/* What was checked of an address on every path to a point, since the last call, atomic or fence. */
struct fact {
    uint32_t bytes; /* 0: nothing */
    uint16_t classes;
    bool writes, any; /* any: top, no path seen yet */
};

struct block {
    LLVMBasicBlockRef block;
    size_t first, end; /* in the work list */
};

/* 003 §7.1.4, along dominators. Of a function's own object where the degree asks for no more. */
struct available_checks {
    const struct dh_pass *pass;
    const dh_value_vec *work;
    const unsigned *classes;   /* by entry of the work list: classes its check covers, 0: none */
    LLVMValueRef object;       /* NULL: any */
    struct dh_u64_map of;      /* block -> index */
    struct dh_u64_map numbers; /* address -> index */
    dh_value_vec addresses;
    DH_VEC(struct block) all;
    DH_VEC(uint32_t) preds; /* pairs: block, one before it */
    struct fact *ends;      /* by block and address */
    struct fact *now;       /* by address */
};

bool dh_redundant_checks_is_in_object(LLVMValueRef object, LLVMValueRef addr)
{
    while (addr != object && LLVMIsAGetElementPtrInst(addr))
        addr = LLVMGetOperand(addr, 0);
    return !object || addr == object;
}

static void number_address(struct available_checks *av, size_t at)
{
    struct dh_memop a;
    if (!av->classes[at] || !dh_memop_of(av->pass, av->work->at[at], &a) ||
        dh_u64_map_find(&av->numbers, (uintptr_t)a.addr) || !dh_redundant_checks_is_in_object(av->object, a.addr))
        return;
    *dh_u64_map_at(&av->numbers, (uintptr_t)a.addr) = av->addresses.n;
    dh_vec_push(&av->addresses, a.addr);
}

static void read_blocks(struct available_checks *av, LLVMValueRef f)
{
    size_t at = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
        struct block b = {bb, at, at};
        for (; b.end < av->work->n && LLVMGetInstructionParent(av->work->at[b.end]) == bb; b.end++)
            number_address(av, b.end);
        at = b.end;
        *dh_u64_map_at(&av->of, (uintptr_t)bb) = av->all.n;
        dh_vec_push(&av->all, b);
    }
    for (uint32_t n = 0; n < av->all.n; n++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(av->all.at[n].block);
        for (unsigned k = 0; end && k < LLVMGetNumSuccessors(end); k++) {
            dh_vec_push(&av->preds, *dh_u64_map_find(&av->of, (uintptr_t)LLVMGetSuccessor(end, k)));
            dh_vec_push(&av->preds, n);
        }
    }
}

static void meet_facts(struct fact *a, const struct fact *b)
{
    if (b->any)
        return;
    if (a->any) {
        *a = *b;
        return;
    }
    a->bytes = a->bytes < b->bytes ? a->bytes : b->bytes;
    a->classes &= b->classes;
    a->writes &= b->writes;
    if (!a->classes)
        a->bytes = 0;
}

/* An address that is computed in the block had another value before (loops). */
static bool is_made_in(LLVMValueRef addr, LLVMBasicBlockRef block)
{
    return LLVMIsAInstruction(addr) && LLVMGetInstructionParent(addr) == block;
}

static void facts_at_entry(struct available_checks *av, uint32_t n)
{
    size_t most = av->addresses.n;
    for (size_t k = 0; k < most; k++)
        av->now[k] = (struct fact){.any = n != 0};
    for (size_t i = 0; i < av->preds.n && n; i += 2)
        for (size_t k = 0; k < most && av->preds.at[i] == n; k++)
            meet_facts(&av->now[k], &av->ends[av->preds.at[i + 1] * most + k]);
    for (size_t k = 0; k < most; k++)
        if (is_made_in(av->addresses.at[k], av->all.at[n].block))
            av->now[k] = (struct fact){0};
}

static void transfer_access(struct available_checks *av, const struct dh_memop *a, unsigned classes)
{
    uint64_t *number = dh_u64_map_find(&av->numbers, (uintptr_t)a->addr);
    if (!classes || !number)
        return;
    struct fact *f = &av->now[*number], now = {(uint32_t)a->bytes, (uint16_t)classes, a->op == DH_OP_WRITE, false};
    bool covered = f->bytes >= now.bytes && (f->writes || !now.writes) && !(now.classes & ~f->classes);
    if (!covered && !f->any)
        *f = now;
}

/* True: the facts at its end changed. */
static bool transfer_block(struct available_checks *av, uint32_t n)
{
    size_t most = av->addresses.n;
    bool changed = false;
    facts_at_entry(av, n);
    for (size_t i = av->all.at[n].first; i < av->all.at[n].end; i++) {
        struct dh_memop a;
        bool known = dh_memop_of(av->pass, av->work->at[i], &a);
        if (!known || dh_memop_ends_sync_free_region(&a))
            memset(av->now, 0, most * sizeof *av->now);
        else
            transfer_access(av, &a, av->classes[i]);
    }
    struct fact *end = &av->ends[n * most];
    for (size_t k = 0; k < most; k++) {
        const struct fact *f = &av->now[k];
        changed |= f->any != end[k].any || f->bytes != end[k].bytes || f->classes != end[k].classes ||
                   f->writes != end[k].writes;
        end[k] = *f;
    }
    return changed;
}

/* False: too large; elimination stays within blocks. */
static bool solve(struct available_checks *av, LLVMValueRef f)
{
    enum { MOST_FACTS = 1 << 18, MOST_ROUNDS = 40 };
    read_blocks(av, f);
    size_t n = av->all.n * av->addresses.n;
    if (!n || n > MOST_FACTS || av->preds.n > (1 << 12))
        return false;
    av->ends = dh_xmalloc(n * sizeof *av->ends);
    av->now = dh_xmalloc(av->addresses.n * sizeof *av->now);
    for (size_t k = 0; k < n; k++)
        av->ends[k] = (struct fact){.any = true};
    bool changed = true;
    for (int round = 0; changed && round < MOST_ROUNDS; round++) {
        changed = false;
        for (uint32_t b = 0; b < av->all.n; b++)
            changed |= transfer_block(av, b);
    }
    return !changed;
}

static void release_available(struct available_checks *av)
{
    dh_u64_map_release(&av->of);
    dh_u64_map_release(&av->numbers);
    dh_vec_release(&av->addresses);
    dh_vec_release(&av->all);
    dh_vec_release(&av->preds);
    free(av->ends);
    free(av->now);
}

static void enter_block(struct available_checks *av, struct region *p, LLVMBasicBlockRef block)
{
    begin_region(p, block);
    uint64_t *n = av->ends ? dh_u64_map_find(&av->of, (uintptr_t)block) : NULL;
    if (!n)
        return;
    facts_at_entry(av, *n);
    for (size_t k = 0; k < av->addresses.n; k++) {
        const struct fact *f = &av->now[k];
        struct checked s = {av->addresses.at[k], f->bytes, f->writes, f->classes, ELSEWHERE};
        if (f->bytes && !f->any && p->n < WINDOW)
            remember(p, &s);
    }
}

/* The first pointer parameter. */
static LLVMValueRef object_of(LLVMValueRef f)
{
    for (unsigned n = 0; n < LLVMCountParams(f); n++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(f, n))) == LLVMPointerTypeKind)
            return LLVMGetParam(f, n);
    return NULL;
}

bool dh_redundant_checks_object(const struct dh_pass *pass, LLVMValueRef f, LLVMValueRef *object)
{
    enum dh_degree degree = pass->plan->degree;
    *object = degree == DH_DEGREE_CONFLICT ? object_of(f) : NULL;
    return degree == DH_DEGREE_OPTIMIZED || *object;
}

static void read_classes(const struct dh_pass *pass, const dh_value_vec *work, unsigned *classes,
                         unsigned (*hooked)(void *arg, const struct dh_memop *a), void *arg)
{
    for (size_t i = 0; i < work->n; i++) {
        struct dh_memop a;
        bool plain = dh_memop_of(pass, work->at[i], &a) && a.kind == DH_MEMOP_PLAIN && a.bytes;
        classes[i] = plain ? hooked(arg, &a) : 0;
    }
}

static void remove_redundant(struct available_checks *av, dh_value_vec *work)
{
    struct region p = {0};
    for (size_t i = 0; i < work->n; i++) {
        struct dh_memop a;
        LLVMBasicBlockRef block = LLVMGetInstructionParent(work->at[i]);
        bool known = dh_memop_of(av->pass, work->at[i], &a);
        if (block != p.block)
            enter_block(av, &p, block);
        if (!known || dh_memop_ends_sync_free_region(&a))
            begin_region(&p, block);
        if (av->classes[i])
            eliminate(&p, work, i, &a, av->classes[i]);
    }
}

void dh_redundant_checks_remove(const struct dh_pass *pass, dh_value_vec *work,
                                unsigned (*hooked)(void *arg, const struct dh_memop *a), void *arg)
{
    unsigned *classes = dh_xcalloc(work->n + 1, sizeof *classes);
    struct available_checks av = {.pass = pass, .work = work, .classes = classes};
    LLVMValueRef f = work->n ? LLVMGetBasicBlockParent(LLVMGetInstructionParent(work->at[0])) : NULL;
    read_classes(pass, work, classes, hooked, arg);
    bool across = f && !(pass->plan->everywhere & DH_CLASS_LOCKSET) && dh_redundant_checks_object(pass, f, &av.object);
    if (across && !solve(&av, f)) {
        free(av.ends);
        av.ends = NULL;
    }
    remove_redundant(&av, work);
    release_available(&av);
    free(classes);
}
