#include "instrument/redundant_consistency.h"

#include "instrument/redundant_checks.h"

enum { WINDOW = 32 }; /* addresses tracked at a time */

/* The last two accesses of an address that are still checked. */
struct tracked {
    LLVMValueRef addr;
    uint64_t bytes;
    size_t last;
    bool last_writes, before_writes, has_before;
};

struct region {
    struct tracked all[WINDOW];
    unsigned n;
};

static struct tracked *find_tracked(struct region *p, LLVMValueRef addr)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->all[i].addr == addr)
            return &p->all[i];
    return NULL;
}

static void track(struct region *p, const struct dh_memop *a, size_t at, bool *redundant)
{
    struct tracked *f = find_tracked(p, a->addr);
    bool writes = a->op == DH_OP_WRITE;
    if (!f || f->bytes != a->bytes) {
        if (!f && p->n == WINDOW)
            return;
        f = f ? f : &p->all[p->n++];
        *f = (struct tracked){.addr = a->addr, .bytes = a->bytes, .last = at, .last_writes = writes};
        return;
    }
    /* Between two writes it is the read that sees what another thread wrote. */
    if (f->has_before && !f->last_writes && !(f->before_writes && writes)) {
        redundant[f->last] = true;
    } else {
        f->has_before = true;
        f->before_writes = f->last_writes;
    }
    f->last = at;
    f->last_writes = writes;
}

/* Scopes begin and end at hooks that are placed already. */
static bool has_hook_between(LLVMValueRef from, LLVMValueRef to)
{
    for (LLVMValueRef i = LLVMGetNextInstruction(from); i && i != to; i = LLVMGetNextInstruction(i))
        if (dh_is_call(i) && dh_hooks_is_hook(LLVMGetCalledValue(i)))
            return true;
    return false;
}

void dh_redundant_consistency_find(const struct dh_pass *pass, const dh_value_vec *work, bool *redundant)
{
    struct region p = {.n = 0};
    LLVMBasicBlockRef block = NULL;
    LLVMValueRef object = NULL;
    if (!work->n ||
        !dh_redundant_checks_object(pass, LLVMGetBasicBlockParent(LLVMGetInstructionParent(work->at[0])), &object))
        return;
    for (size_t i = 0; i < work->n; i++) {
        struct dh_memop a;
        bool known = dh_memop_of(pass, work->at[i], &a);
        if (LLVMGetInstructionParent(work->at[i]) != block || !known || dh_memop_ends_sync_free_region(&a) ||
            has_hook_between(work->at[i - 1], work->at[i]))
            p.n = 0;
        block = LLVMGetInstructionParent(work->at[i]);
        if (known && a.kind == DH_MEMOP_PLAIN && a.bytes && !LLVMGetVolatile(a.at) &&
            dh_redundant_checks_is_in_object(object, a.addr))
            track(&p, &a, i, redundant);
    }
}
