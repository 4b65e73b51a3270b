#include "instrument/redundant.h"

#include "instrument/ptrmap.h"

enum { WINDOW = 32 }; /* addresses remembered in a piece; longer ones lose the oldest */

struct seen {
    LLVMValueRef addr;
    uint64_t bytes;
    bool writes;
    unsigned classes;
    size_t at; /* in the work list; ELSEWHERE: in a block before this one, where it stays */
};
#define ELSEWHERE SIZE_MAX

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

static void note(struct piece *p, dh_value_vec *work, size_t at, const struct dh_memop *a, unsigned classes)
{
    struct seen now = {a->addr, a->bytes, a->op == DH_OP_WRITE, classes, at}, *before = find(p, a->addr);
    if (!before) {
        remember(p, &now);
    } else if (before->bytes >= now.bytes && (before->writes || !now.writes) && !(now.classes & ~before->classes)) {
        work->at[at] = NULL;
    } else if (now.bytes >= before->bytes && (now.writes || !before->writes) && !(before->classes & ~now.classes)) {
        /* A read, then a write: the write speaks for both. */
        if (before->at != ELSEWHERE)
            work->at[before->at] = NULL;
        *before = now;
    }
}

/* ---- from block to block ---- */

#define NOWHERE UINT32_MAX

/* A block, the one before it if there is one only, and what is known at its end. What was checked in a block was
 * checked before all blocks on which no other way leads (003 §7.1.4, along dominators). */
struct way {
    LLVMBasicBlockRef block;
    uint32_t from; /* NOWHERE: several or none */
    uint32_t end;  /* index into pieces, NOWHERE: nothing */
    bool met;
};

struct ways {
    struct dh_ptrmap of; /* block -> index */
    DH_VEC(struct way) all;
    DH_VEC(struct piece) pieces;
};

static struct way *way_of(struct ways *ways, LLVMBasicBlockRef block)
{
    uint32_t *at = dh_ptrmap_find(&ways->of, dh_ptrmap_key(block));
    return at ? &ways->all.at[*at] : NULL;
}

static void read_ways(struct ways *ways, LLVMValueRef f)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
        dh_ptrmap_add(&ways->of, dh_ptrmap_key(bb), (uint32_t)ways->all.n);
        dh_vec_push(&ways->all, ((struct way){bb, NOWHERE, NOWHERE, false}));
    }
    for (uint32_t n = 0; n < ways->all.n; n++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(ways->all.at[n].block);
        for (unsigned k = 0; end && k < LLVMGetNumSuccessors(end); k++) {
            struct way *to = way_of(ways, LLVMGetSuccessor(end, k));
            to->from = to->met ? NOWHERE : n;
            to->met = true;
        }
    }
}

static void release_ways(struct ways *ways)
{
    dh_ptrmap_release(&ways->of);
    dh_vec_release(&ways->all);
    dh_vec_release(&ways->pieces);
}

static void keep_end(struct ways *ways, const struct piece *p)
{
    struct way *way = p->block && p->n ? way_of(ways, p->block) : NULL;
    if (!way)
        return;
    way->end = (uint32_t)ways->pieces.n;
    dh_vec_push(&ways->pieces, *p);
}

/* Nothing in it was looked at, for there is neither access nor call. */
static bool is_empty(LLVMBasicBlockRef block)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || dh_is_call(i) || LLVMIsAAtomicRMWInst(i) ||
            LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i))
            return false;
    return true;
}

static void inherit(struct piece *p, const struct piece *from)
{
    LLVMBasicBlockRef block = p->block;
    *p = *from;
    p->block = block;
    for (unsigned n = 0; n < p->n; n++)
        p->seen[n].at = ELSEWHERE;
}

static void enter(struct ways *ways, struct piece *p, LLVMBasicBlockRef block)
{
    enum { FAR = 8 };
    struct way *way = way_of(ways, block);
    begin(p, block);
    for (int steps = 0; way && way->from != NOWHERE && steps < FAR; steps++) {
        way = &ways->all.at[way->from];
        if (way->end != NOWHERE)
            inherit(p, &ways->pieces.at[way->end]);
        if (way->end != NOWHERE || !is_empty(way->block))
            return;
    }
}

void dh_redundant_remove(const struct dh_weave *w, dh_value_vec *work,
                         unsigned (*hooked)(void *arg, const struct dh_memop *a), void *arg)
{
    struct piece p = {0};
    struct ways ways = {0};
    bool across = w->plan->degree == DH_DEGREE_OPTIMIZED && !(w->plan->everywhere & DH_CLASS_LOCKSET);
    if (across && work->n)
        read_ways(&ways, LLVMGetBasicBlockParent(LLVMGetInstructionParent(work->at[0])));
    for (size_t i = 0; i < work->n; i++) {
        struct dh_memop a;
        LLVMBasicBlockRef block = LLVMGetInstructionParent(work->at[i]);
        bool known = dh_memop_of(w, work->at[i], &a);
        if (block != p.block) {
            keep_end(&ways, &p);
            enter(&ways, &p, block);
        }
        if (!known || ends_piece(&a))
            begin(&p, block);
        unsigned classes = known && a.kind == DH_MEMOP_PLAIN && a.bytes ? hooked(arg, &a) : 0;
        if (classes)
            note(&p, work, i, &a, classes);
    }
    release_ways(&ways);
}
