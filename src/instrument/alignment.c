#include "instrument/alignment.h"

enum { MOST = 8, BASES = 16, STEPS = 16 };

/* A pointer and what is known of it: address mod `alignment` is `rest`. */
struct base {
    LLVMValueRef pointer;
    unsigned alignment, rest;
};

struct block_bases {
    struct base bases[BASES];
    unsigned n;
};

static LLVMTypeRef member(const struct dh_pass *pass, LLVMTypeRef type, LLVMValueRef index, int64_t *offset)
{
    int64_t at = LLVMConstIntGetSExtValue(index);
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        *offset += (int64_t)LLVMOffsetOfElement(pass->layout, type, (unsigned)at);
        return LLVMStructGetTypeAtIndex(type, (unsigned)at);
    }
    if (LLVMGetTypeKind(type) != LLVMArrayTypeKind)
        return NULL;
    *offset += at * (int64_t)LLVMABISizeOfType(pass->layout, LLVMGetElementType(type));
    return LLVMGetElementType(type);
}

/* Adds the offset of a getelementptr with constant indices. False: it is none. */
static bool add_offset(const struct dh_pass *pass, LLVMValueRef gep, int64_t *offset)
{
    unsigned n = LLVMGetNumIndices(gep);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (unsigned i = 1; i <= n; i++)
        if (!LLVMIsAConstantInt(LLVMGetOperand(gep, i)))
            return false;
    *offset += LLVMConstIntGetSExtValue(LLVMGetOperand(gep, 1)) * (int64_t)LLVMABISizeOfType(pass->layout, type);
    for (unsigned i = 2; i <= n && type; i++)
        type = member(pass, type, LLVMGetOperand(gep, i), offset);
    return type;
}

static LLVMValueRef base_of(const struct dh_pass *pass, LLVMValueRef address, int64_t *offset)
{
    for (int i = 0; i < STEPS && LLVMIsAGetElementPtrInst(address); i++) {
        int64_t sum = *offset;
        if (!add_offset(pass, address, &sum))
            return address;
        *offset = sum;
        address = LLVMGetOperand(address, 0);
    }
    return address;
}

static struct base *find_base(struct block_bases *p, LLVMValueRef pointer)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->bases[i].pointer == pointer)
            return &p->bases[i];
    return NULL;
}

static void learn(const struct dh_pass *pass, struct block_bases *p, LLVMValueRef access)
{
    struct dh_memop a;
    int64_t offset = 0;
    if (!dh_memop_of(pass, access, &a) || a.kind != DH_MEMOP_PLAIN)
        return;
    unsigned alignment = LLVMGetAlignment(access);
    alignment = alignment < MOST ? alignment : MOST;
    LLVMValueRef pointer = base_of(pass, a.addr, &offset);
    struct base *known = find_base(p, pointer);
    if (!known && p->n == BASES)
        return;
    if (!known)
        p->bases[p->n++] = (struct base){pointer, 0, 0};
    known = known ? known : &p->bases[p->n - 1];
    if (alignment > known->alignment)
        *known = (struct base){pointer, alignment, (unsigned)(-(uint64_t)offset & (alignment - 1))};
}

static void raise(const struct dh_pass *pass, struct block_bases *p, LLVMValueRef access)
{
    struct dh_memop a;
    int64_t offset = 0;
    if (!dh_memop_of(pass, access, &a) || a.kind != DH_MEMOP_PLAIN || LLVMGetAlignment(access) >= MOST)
        return;
    const struct base *b = find_base(p, base_of(pass, a.addr, &offset));
    if (!b)
        return;
    uint64_t rest = ((uint64_t)offset + b->rest) & (b->alignment - 1);
    unsigned alignment = rest ? (unsigned)(rest & -rest) : b->alignment;
    if (alignment > LLVMGetAlignment(access))
        LLVMSetAlignment(access, alignment);
}

/* After a call that may not return nothing is certain. */
static bool ends_piece(const struct dh_pass *pass, LLVMValueRef access)
{
    struct dh_memop a;
    return dh_memop_of(pass, access, &a) && a.kind == DH_MEMOP_CALL && !dh_is_intrinsic_call(access);
}

void dh_alignment_infer(const struct dh_pass *pass, const dh_value_vec *accesses)
{
    for (size_t from = 0, to; from < accesses->n; from = to) {
        struct block_bases p = {.n = 0};
        LLVMBasicBlockRef block = LLVMGetInstructionParent(accesses->at[from]);
        for (to = from; to < accesses->n && LLVMGetInstructionParent(accesses->at[to]) == block; to++) {
            if (to > from && ends_piece(pass, accesses->at[to]))
                break;
            learn(pass, &p, accesses->at[to]);
        }
        for (size_t i = from; i < to; i++)
            raise(pass, &p, accesses->at[i]);
    }
}
