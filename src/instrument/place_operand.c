#include "instrument/place_operand.h"

#include "ir/site_scopes.h"
#include "ir/sites.h"

enum { MAX_DEPTH = 3, MAX_INCOMING = 8, MAX_KNOWN = 32 };

/* The current access; results are cached because a phi needs equal values for equal predecessors. */
struct operand_state {
    struct dh_site_resolver *r;
    struct dh_pass *pass;
    const struct dh_memop *a;
    bool carried; /* the sites of all arms are known, but not which is whose */
    struct {
        LLVMValueRef address, place;
    } known[MAX_KNOWN];
    unsigned n_known;
};

static LLVMValueRef find(struct operand_state *s, LLVMValueRef address, unsigned depth);

static LLVMValueRef constant_place(struct operand_state *s, uint32_t site)
{
    return dh_pass_u32(s->pass, dh_site_resolver_place(s->r, s->a->at, site));
}

static LLVMValueRef place_of_leaf(struct operand_state *s, LLVMValueRef address)
{
    struct dh_memop incoming = *s->a;
    incoming.addr = address;
    struct dh_resolved_site found =
        s->carried ? dh_site_resolver_find(s->r, &incoming) : dh_site_resolver_find_named(s->r, &incoming);
    return constant_place(s, found.site);
}

/* `arm` is an address, or with `gep` one of the offsets that may be added there. */
static LLVMValueRef place_of_incoming(struct operand_state *s, LLVMValueRef gep, LLVMValueRef incoming, unsigned depth)
{
    if (!gep)
        return find(s, incoming, depth + 1);
    if (!LLVMIsAConstantInt(incoming))
        return place_of_leaf(s, gep);
    LLVMValueRef address = LLVMInstructionClone(gep);
    LLVMSetOperand(address, 1, incoming);
    dh_pass_position_before(s->pass, s->a->at);
    LLVMInsertIntoBuilder(s->pass->b, address);
    LLVMValueRef place = place_of_leaf(s, address);
    LLVMInstructionEraseFromParent(address);
    return place;
}

static LLVMValueRef join_phi(struct operand_state *s, LLVMValueRef gep, LLVMValueRef phi, unsigned depth)
{
    LLVMValueRef values[MAX_INCOMING];
    LLVMBasicBlockRef blocks[MAX_INCOMING];
    unsigned n = LLVMCountIncoming(phi);
    bool equal = true;
    for (unsigned i = 0; i < n; i++) {
        values[i] = place_of_incoming(s, gep, LLVMGetIncomingValue(phi, i), depth);
        blocks[i] = LLVMGetIncomingBlock(phi, i);
        equal &= values[i] == values[0];
    }
    if (equal)
        return values[0];
    LLVMPositionBuilderBefore(s->pass->b, phi);
    LLVMValueRef joined = LLVMBuildPhi(s->pass->b, s->pass->i32, "");
    LLVMAddIncoming(joined, values, blocks, n);
    return joined;
}

static LLVMValueRef join_select(struct operand_state *s, LLVMValueRef gep, LLVMValueRef select, unsigned depth)
{
    LLVMValueRef yes = place_of_incoming(s, gep, LLVMGetOperand(select, 1), depth);
    LLVMValueRef no = place_of_incoming(s, gep, LLVMGetOperand(select, 2), depth);
    if (yes == no)
        return yes;
    LLVMPositionBuilderBefore(s->pass->b, select);
    return LLVMBuildSelect(s->pass->b, LLVMGetOperand(select, 0), yes, no, "");
}

/* What decides about an address: itself, or the one offset in it. */
static LLVMValueRef decider(LLVMValueRef address, LLVMValueRef *gep)
{
    *gep = LLVMIsAGetElementPtrInst(address) && LLVMGetNumIndices(address) == 1 ? address : NULL;
    LLVMValueRef v = *gep ? LLVMGetOperand(address, 1) : address;
    if (LLVMIsASelectInst(v))
        return v;
    return LLVMIsAPHINode(v) && LLVMCountIncoming(v) <= MAX_INCOMING ? v : NULL;
}

static LLVMValueRef find_fresh(struct operand_state *s, LLVMValueRef address, unsigned depth)
{
    LLVMValueRef gep, by = depth < MAX_DEPTH ? decider(address, &gep) : NULL;
    if (!by)
        return place_of_leaf(s, address);
    return LLVMIsASelectInst(by) ? join_select(s, gep, by, depth) : join_phi(s, gep, by, depth);
}

static LLVMValueRef find(struct operand_state *s, LLVMValueRef address, unsigned depth)
{
    for (unsigned i = 0; i < s->n_known; i++)
        if (s->known[i].address == address)
            return s->known[i].place;
    /* Out of room: any answer is a true one, but not the same for every arm. */
    if (s->n_known == MAX_KNOWN)
        return place_of_leaf(s, s->a->addr);
    unsigned at = s->n_known++;
    s->known[at].address = address;
    s->known[at].place = place_of_leaf(s, address); /* for a phi that comes back to itself */
    LLVMValueRef place = find_fresh(s, address, depth);
    s->known[at].place = place;
    return place;
}

LLVMValueRef dh_place_operand_emit(struct dh_site_resolver *r, struct dh_pass *pass, const struct dh_memop *a,
                                   uint32_t site)
{
    struct operand_state s = {.r = r, .pass = pass, .a = a};
    uint32_t carried[2];
    LLVMValueRef gep;
    bool chosen = (a->kind == DH_MEMOP_PLAIN || a->kind == DH_MEMOP_ATOMIC) && dh_ir_site_of(a->at) == DH_NO_SITE &&
                  decider(a->addr, &gep);
    unsigned n = chosen ? dh_ir_merged_sites(a->at, carried, 2) : 0;
    s.carried = n > 0;
    /* Without any, only addresses that dh_speculated_load_restore put together are worth it. */
    if (!chosen || n == 1 || (n == 0 && !LLVMIsASelectInst(a->addr)))
        return constant_place(&s, site);
    LLVMValueRef place = find(&s, a->addr, 0);
    dh_pass_position_before(pass, a->at);
    return place;
}
