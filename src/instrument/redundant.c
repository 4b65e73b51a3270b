#include "instrument/redundant.h"

enum { WINDOW = 32 }; /* addresses remembered in a piece; longer ones lose the oldest */

struct seen {
    LLVMValueRef addr;
    uint64_t bytes;
    bool writes;
    size_t at; /* in the work list */
};

struct piece {
    struct seen seen[WINDOW];
    unsigned n, oldest;
    LLVMBasicBlockRef block;
};

static struct seen *find(struct piece *p, LLVMValueRef addr)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->seen[i].addr == addr)
            return &p->seen[i];
    return NULL;
}

static void remember(struct piece *p, const struct seen *s)
{
    if (p->n < WINDOW) {
        p->seen[p->n++] = *s;
        return;
    }
    p->seen[p->oldest] = *s;
    p->oldest = (p->oldest + 1) % WINDOW;
}

static void begin(struct piece *p, LLVMBasicBlockRef block)
{
    p->n = p->oldest = 0;
    p->block = block;
}

/* Debug and lifetime intrinsics and arithmetic neither order nor free anything. */
static bool ends_piece(const struct dh_memop *a)
{
    if (a->kind == DH_MEMOP_CALL)
        return !dh_is_intrinsic_call(a->at);
    return a->kind == DH_MEMOP_ATOMIC || a->kind == DH_MEMOP_FENCE;
}

static void note(struct piece *p, dh_value_vec *work, size_t at, const struct dh_memop *a)
{
    struct seen now = {a->addr, a->bytes, a->op == DH_OP_WRITE, at}, *before = find(p, a->addr);
    if (!before) {
        remember(p, &now);
    } else if (before->bytes >= now.bytes && (before->writes || !now.writes)) {
        work->at[at] = NULL;
    } else if (now.bytes >= before->bytes) { /* a read, then a write: the write speaks for both */
        work->at[before->at] = NULL;
        *before = now;
    }
}

void dh_redundant_remove(const struct dh_weave *w, dh_value_vec *work,
                         bool (*hooked)(void *arg, const struct dh_memop *a), void *arg)
{
    struct piece p = {0};
    for (size_t i = 0; i < work->n; i++) {
        struct dh_memop a;
        LLVMBasicBlockRef block = LLVMGetInstructionParent(work->at[i]);
        bool known = dh_memop_of(w, work->at[i], &a);
        if (block != p.block || !known || ends_piece(&a))
            begin(&p, block);
        if (known && a.kind == DH_MEMOP_PLAIN && a.bytes && hooked(arg, &a))
            note(&p, work, i, &a);
    }
}
