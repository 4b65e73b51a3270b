/* Healing: hooks that open a section before its entry and close it after its ends, and that enter and leave a group
 * around accesses to what it guards. Needs: a module as numbered, before exact placement, whose hooks then lie inside.
 * A section that lies in one function is also closed where none of its ends is reachable any more, and on every
 * exit. */
#include "event/heal.h"

#include "base/alloc.h"
#include "instrument/attributes.h"
#include "instrument/heal_held_groups.h"
#include "instrument/heal_object_locks.h"
#include "instrument/instrument.h"
#include "instrument/pass.h"
#include "instrument/places.h"
#include "ir/sites.h"

#include <stdlib.h>
#include <string.h>

struct block {
    LLVMBasicBlockRef at;
    bool live;   /* from its start an end is reachable without passing the entry */
    bool leads;  /* has neither entry nor end: `live` follows from its successors */
    bool closed; /* the close hook is placed */
    bool open;   /* the section may be open at its end */
    bool passes; /* has neither entry nor end: open at its end if at its start */
};

enum here { ENTRY = 1, END = 2, WHOLE = 4 /* the entry is the function's own site */ };

struct heal {
    struct dh_pass pass;
    const struct dh_heal_plan *plan;
    uint8_t *ops; /* per site */
    uint32_t n_sites;
    /* per section */
    bool *is_local; /* each function has entry and end of it, or neither */
    bool *waits;    /* means `order`: waits until an access has happened */
    bool *ends_at_access;
    uint32_t *entered;      /* site of its entry */
    bool *is_single;        /* it consists of one access */
    bool *is_shared;        /* several functions have the name of its entry */
    LLVMValueRef *is_whole; /* the function whose whole body it is, or NULL */
    /* per group */
    struct dh_heal_object_locks objects;
    struct dh_heal_held_groups held;
    uint64_t reads_pass;   /* whose atomicity no read from outside breaks */
    uint64_t only_singles; /* whose sections are one access each */
    bool jumps;            /* the program calls setjmp */
    /* of the current function */
    uint8_t *here;                /* per section: enum here */
    LLVMValueRef function, frame; /* frame: NULL until it is needed */
    bool is_left;                 /* a section ends with the activation */
    dh_value_vec work;
    DH_VEC(struct block) blocks;
    struct dh_u64_map block_of;
    struct dh_u64_set pointless; /* section entries from which no end is reachable */
};

/* ---- roles of an instruction in the policy ---- */

static uint32_t mark_of(const struct heal *h, uint32_t site)
{
    return site < h->plan->n_marks ? h->plan->marks[site] : 0;
}

static const struct dh_section_point *next_point(const struct heal *h, uint32_t mark, uint32_t *at)
{
    const struct dh_sections *f = &h->plan->policy.file;
    uint32_t point = dh_site_mark_point(mark);
    for (; point && *at < f->n_points; ++*at)
        if (f->points[*at].site == point - 1 && h->plan->policy.group_of[f->points[*at].section] != DH_HEAL_NONE)
            return &f->points[(*at)++];
    return NULL;
}

static bool is_point(const struct heal *h, uint32_t site, uint32_t section, bool entry)
{
    const struct dh_section_point *p;
    for (uint32_t at = 0; (p = next_point(h, mark_of(h, site), &at));)
        if (p->section == section && (p->role == DH_SECTION_ENTRY) == entry)
            return true;
    return false;
}

static bool is_sync(const struct heal *h, uint32_t site)
{
    enum dh_group group = dh_op_info(h->ops[site])->group;
    return group == DH_GROUP_SYNC || group == DH_GROUP_FUNCTION || group == DH_GROUP_THREAD;
}

static void look_at_site(struct heal *h, uint32_t site)
{
    const struct dh_section_point *p;
    if (site >= h->n_sites)
        return;
    for (uint32_t at = 0; (p = next_point(h, mark_of(h, site), &at));) {
        uint8_t means = h->plan->policy.groups[h->plan->policy.group_of[p->section]].means;
        if (p->role == DH_SECTION_ENTRY) {
            h->here[p->section] |= ENTRY | (h->ops[site] == DH_OP_FUNCTION ? WHOLE : 0);
            h->waits[p->section] = means == DH_HEAL_ORDER && (!is_sync(h, site) || h->ends_at_access[p->section]);
            h->entered[p->section] = site;
        } else if (p->role == DH_SECTION_END) {
            h->here[p->section] |= END;
        }
    }
}

static void look_at_function(struct heal *h, LLVMValueRef f)
{
    memset(h->here, 0, h->plan->policy.file.n_sections + 1);
    look_at_site(h, dh_ir_function_site(f));
    h->work.n = 0;
    dh_pass_collect_memops(f, &h->work);
    for (size_t i = 0; i < h->work.n; i++)
        look_at_site(h, dh_ir_site_of(h->work.at[i]));
}

static void find_ends(struct heal *h)
{
    const struct dh_section_point *p;
    for (uint32_t site = 0; site < h->n_sites; site++)
        for (uint32_t at = 0; (p = next_point(h, mark_of(h, site), &at));)
            h->ends_at_access[p->section] |= p->role == DH_SECTION_END && !is_sync(h, site);
}

static void find_local(struct heal *h)
{
    uint32_t n = h->plan->policy.file.n_sections;
    memset(h->is_local, 1, n);
    for (LLVMValueRef f = LLVMGetFirstFunction(h->pass.m); f; f = LLVMGetNextFunction(f)) {
        if (!dh_pass_may_instrument(&h->pass, f))
            continue;
        look_at_function(h, f);
        for (uint32_t s = 0; s < n; s++) {
            h->is_local[s] &= !(h->here[s] & ENTRY) == !(h->here[s] & END);
            if (h->here[s] & WHOLE) {
                h->is_shared[s] |= h->is_whole[s] != NULL;
                h->is_whole[s] = h->is_shared[s] ? NULL : f;
            }
        }
    }
}

/* ---- hooks ---- */

static LLVMValueRef return_slot(struct dh_pass *pass)
{
    static const char name[] = "llvm.addressofreturnaddress";
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(pass->m, LLVMLookupIntrinsicID(name, strlen(name)), &pass->ptr, 1);
    return LLVMBuildCall2(pass->b, LLVMGlobalGetValueType(f), f, NULL, 0, "");
}

static void add_attribute(LLVMValueRef f, const char *name)
{
    LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(c, kind, 0));
}

/* Inlined, two activations would have one frame. */
static void keep_apart(LLVMValueRef f)
{
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, always);
    add_attribute(f, "noinline");
}

/* Without unwinding, longjmp and recursion there is one activation at a time, and inlining does no harm. */
static bool may_be_inlined(const struct heal *h)
{
    return !h->jumps && dh_function_has(h->function, "nounwind") &&
           !dh_heal_object_locks_is_recursive(&h->objects, h->function);
}

static LLVMValueRef frame_of(struct heal *h)
{
    if (!h->frame) {
        keep_apart(h->function);
        dh_pass_position_block_start(&h->pass, LLVMGetEntryBasicBlock(h->function));
        h->frame = return_slot(&h->pass);
    }
    return h->frame;
}

static LLVMValueRef place_of(struct heal *h, uint32_t site, LLVMValueRef near)
{
    LLVMMetadataRef loc = near ? LLVMInstructionGetDebugLoc(near) : NULL;
    return dh_pass_u32(&h->pass, loc ? dh_places_id(h->pass.places, site, loc) : site);
}

static void call_section(struct heal *h, enum dh_hook hook, uint32_t section, LLVMValueRef place)
{
    LLVMValueRef args[] = {dh_pass_u32(&h->pass, section), place};
    dh_hooks_call(&h->pass.hooks, h->pass.b, hook, args);
}

/* NULL: not needed. */
static LLVMValueRef frame_for(struct heal *h, uint32_t section)
{
    if (h->is_local[section] && (h->is_left || !may_be_inlined(h)))
        return frame_of(h);
    if (h->is_local[section]) /* hooks make the function look larger to the inliner than it is on most paths */
        add_attribute(h->function, "inlinehint");
    return LLVMConstNull(h->pass.ptr);
}

static bool is_by_object(const struct heal *h, uint32_t group)
{
    return h->objects.groups >> group & 1;
}

/* The objects of a section: those that the access, or the function through its arguments, accesses. */
static void objects_of(struct heal *h, uint32_t group, LLVMValueRef access, LLVMValueRef out[DH_HEAL_OBJECTS])
{
    struct dh_memop a;
    if (access && dh_memop_of(&h->pass, access, &a)) {
        out[0] = out[1] = a.addr;
        return;
    }
    const struct dh_heal_summary *t = dh_heal_object_locks_summary(&h->objects, group, h->function);
    for (unsigned i = 0; i < DH_HEAL_OBJECTS; i++) {
        const struct dh_heal_object_argument *o = &t->at[i < t->n ? i : t->n - 1u];
        LLVMValueRef offset = LLVMConstInt(h->pass.i64, (uint64_t)o->offset, true);
        out[i] = LLVMBuildGEP2(h->pass.b, LLVMInt8TypeInContext(h->pass.c), LLVMGetParam(h->function, o->argument),
                               &offset, 1, "");
    }
}

/* Before an access, or (NULL) at the entry of the function. */
static void open_section(struct heal *h, LLVMValueRef frame, uint32_t section, LLVMValueRef access, LLVMValueRef place)
{
    uint32_t group = h->plan->policy.group_of[section];
    LLVMValueRef number = dh_pass_u32(&h->pass, section), objects[DH_HEAL_OBJECTS];
    if (!is_by_object(h, group)) {
        dh_hooks_call(&h->pass.hooks, h->pass.b, DH_HOOK_HEAL_OPEN, (LLVMValueRef[]){frame, number, place});
        return;
    }
    objects_of(h, group, access, objects);
    dh_hooks_call(&h->pass.hooks, h->pass.b, DH_HOOK_HEAL_OPEN_AT,
                  (LLVMValueRef[]){frame, objects[0], objects[1], number, place});
}

/* After an instruction; for a terminator (invoke) in its normal destination. */
static void go_behind(struct heal *h, LLVMValueRef i)
{
    if (LLVMGetInstructionOpcode(i) == LLVMInvoke)
        dh_pass_position_block_start(&h->pass, LLVMGetNormalDest(i));
    else if (dh_is_musttail(i) || LLVMIsATerminatorInst(i))
        dh_pass_position_before(&h->pass, i);
    else
        dh_pass_position_after(&h->pass, i);
}

static bool is_production(const struct heal *h)
{
    return h->pass.plan->everywhere & DH_CLASS_PRODUCTION;
}

/* In a production build: every caller holds the group until the function returns. */
static bool is_needless(const struct heal *h, uint32_t section)
{
    return is_production(h) && h->is_local[section] && !h->waits[section] &&
           dh_heal_is_held_on_entry(&h->held, h->function, h->plan->policy.group_of[section]);
}

static uint64_t entry_key(LLVMValueRef i, uint32_t section)
{
    return (uintptr_t)i ^ (uint64_t)section << 48;
}

static void place_points(struct heal *h, uint32_t site, LLVMValueRef i, bool before)
{
    const struct dh_section_point *p;
    for (uint32_t at = 0; (p = next_point(h, mark_of(h, site), &at));) {
        bool entry = p->role == DH_SECTION_ENTRY;
        /* A section of one access is covered by entering its group for that access. */
        if ((is_production(h) && h->is_single[p->section]) || is_needless(h, p->section))
            continue;
        if (entry != before || (entry && dh_u64_set_has(&h->pointless, entry_key(i, p->section))))
            continue;
        LLVMValueRef frame = entry && !h->waits[p->section] ? frame_for(h, p->section) : NULL;
        LLVMValueRef place = place_of(h, site, i);
        if (before)
            dh_pass_position_before(&h->pass, i);
        else
            go_behind(h, i);
        if (frame)
            open_section(h, frame, p->section, i, place);
        else
            call_section(h,
                         entry                  ? DH_HOOK_HEAL_AWAIT
                         : h->waits[p->section] ? DH_HOOK_HEAL_HAPPENED
                                                : DH_HOOK_HEAL_CLOSE,
                         p->section, place);
    }
}

/* Accesses that the processor executes atomically. */
static bool can_be_atomic(const struct dh_memop *a)
{
    if (a->kind != DH_MEMOP_PLAIN || a->bytes > 8 || a->bytes & (a->bytes - 1) || LLVMGetAlignment(a->at) < a->bytes)
        return false;
    LLVMTypeKind kind = LLVMGetTypeKind(a->type);
    return kind == LLVMPointerTypeKind || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind ||
           (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(a->type) == 8 * a->bytes);
}

/* The access is the entry of a section of the group. */
static bool is_opened_at(const struct heal *h, LLVMValueRef i, uint32_t site, uint32_t group)
{
    const struct dh_section_point *p;
    for (uint32_t at = 0; (p = next_point(h, mark_of(h, site), &at));)
        if (p->role == DH_SECTION_ENTRY && h->plan->policy.group_of[p->section] == group && !h->waits[p->section] &&
            !h->is_single[p->section] && !dh_u64_set_has(&h->pointless, entry_key(i, p->section)) &&
            h->plan->policy.groups[group].means == DH_HEAL_LOCK)
            return true;
    return false;
}

/* In a production build, which does not check lock order: a single access that cannot break the atomicity of any
 * section acquires no lock; it is ordered as if it did. */
static bool goes_without(const struct heal *h, const struct dh_memop *a, uint32_t site, uint32_t group)
{
    uint64_t harmless = a->op == DH_OP_READ ? h->reads_pass : h->only_singles;
    if (!is_production(h))
        return false;
    if (dh_heal_is_held(&h->held, h->function, group) || is_opened_at(h, a->at, site, group))
        return true;
    if (!(harmless >> group & 1) || !can_be_atomic(a))
        return false;
    LLVMSetOrdering(a->at, LLVMAtomicOrderingSequentiallyConsistent);
    return true;
}

static void place_group(struct heal *h, uint32_t site, LLVMValueRef i)
{
    struct dh_memop a;
    uint32_t variable = dh_site_mark_variable(mark_of(h, site));
    uint32_t group = variable ? h->plan->policy.variable_of[variable - 1] : DH_HEAL_NONE;
    if (group == DH_HEAL_NONE || !dh_memop_of(&h->pass, i, &a) || !a.addr || goes_without(h, &a, site, group))
        return;
    LLVMValueRef place = place_of(h, site, i);
    LLVMValueRef at[] = {a.addr, dh_pass_u32(&h->pass, group), place};
    bool by_object = is_by_object(h, group);
    dh_pass_position_before(&h->pass, i);
    dh_hooks_call(&h->pass.hooks, h->pass.b, by_object ? DH_HOOK_HEAL_ENTER_AT : DH_HOOK_HEAL_ENTER, at + !by_object);
    dh_pass_position_after(&h->pass, i);
    dh_hooks_call(&h->pass.hooks, h->pass.b, by_object ? DH_HOOK_HEAL_LEAVE_AT : DH_HOOK_HEAL_LEAVE, at + !by_object);
}

/* ---- exits ---- */

static LLVMValueRef leave_point(LLVMValueRef ret)
{
    LLVMValueRef i = LLVMGetPreviousInstruction(ret);
    if (i && LLVMIsABitCastInst(i))
        i = LLVMGetPreviousInstruction(i);
    return i && dh_is_musttail(i) ? i : ret;
}

static bool is_way_out(LLVMValueRef i)
{
    return LLVMGetInstructionOpcode(i) == LLVMRet || LLVMGetInstructionOpcode(i) == LLVMResume;
}

/* Where callees may have been unwound without running their leave hooks. */
static bool is_return_from_below(LLVMValueRef i)
{
    return (LLVMGetInstructionOpcode(i) == LLVMLandingPad && LLVMGetNumClauses(i)) ||
           (dh_is_call(i) && dh_call_has(i, LLVMAttributeFunctionIndex, "returns_twice"));
}

static void place_return(struct heal *h, LLVMValueRef i)
{
    LLVMValueRef frame = h->frame;
    dh_pass_position_before(&h->pass, LLVMGetInstructionOpcode(i) == LLVMRet ? leave_point(i) : i);
    dh_hooks_call(&h->pass.hooks, h->pass.b, DH_HOOK_HEAL_RETURN, &frame);
}

static void place_again(struct heal *h, LLVMValueRef i)
{
    if (LLVMGetInstructionOpcode(i) == LLVMCallBr)
        return;
    if (LLVMGetInstructionOpcode(i) == LLVMLandingPad)
        dh_pass_position_block_start(&h->pass, LLVMGetInstructionParent(i));
    else
        go_behind(h, i);
    LLVMValueRef frame = return_slot(&h->pass);
    dh_hooks_call(&h->pass.hooks, h->pass.b, DH_HOOK_HEAL_AGAIN, &frame);
}

static void place_ways_out(struct heal *h, LLVMValueRef f)
{
    h->work.n = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            if ((h->frame && h->is_left && is_way_out(i)) || is_return_from_below(i))
                dh_vec_push(&h->work, i);
    for (size_t i = 0; i < h->work.n; i++)
        if (is_way_out(h->work.at[i]))
            place_return(h, h->work.at[i]);
        else
            place_again(h, h->work.at[i]);
}

/* ---- closing sections early: liveness of their ends ---- */

/* The first entry or end in a block decides its liveness. */
static void look_into(struct heal *h, struct block *b, uint32_t section)
{
    b->leads = false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(b->at); i; i = LLVMGetNextInstruction(i)) {
        uint32_t site = dh_ir_site_of(i);
        if (site == DH_NO_SITE)
            continue;
        b->live = is_point(h, site, section, false);
        if (b->live || is_point(h, site, section, true))
            return;
    }
    b->leads = true;
    b->live = false;
}

static bool leads_to_live(const struct heal *h, const struct block *b)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b->at);
    for (unsigned i = 0, n = end ? LLVMGetNumSuccessors(end) : 0; i < n; i++)
        if (h->blocks.at[*dh_u64_map_find(&h->block_of, (uintptr_t)LLVMGetSuccessor(end, i))].live)
            return true;
    return false;
}

static void find_live(struct heal *h, uint32_t section)
{
    bool changed = true;
    for (size_t i = 0; i < h->blocks.n; i++) {
        look_into(h, &h->blocks.at[i], section);
        h->blocks.at[i].closed = false;
    }
    while (changed) {
        changed = false;
        for (size_t i = h->blocks.n; i-- > 0;) {
            struct block *b = &h->blocks.at[i];
            if (b->leads && !b->live && leads_to_live(h, b))
                b->live = changed = true;
        }
    }
}

/* Forward from the entry: blocks in which the section may be open. */
static void find_open(struct heal *h, uint32_t section)
{
    bool changed = true;
    for (size_t k = 0; k < h->blocks.n; k++) {
        struct block *b = &h->blocks.at[k];
        b->passes = true;
        b->open = false;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b->at); i; i = LLVMGetNextInstruction(i)) {
            uint32_t site = dh_ir_site_of(i);
            bool entry = site != DH_NO_SITE && is_point(h, site, section, true);
            bool end = site != DH_NO_SITE && is_point(h, site, section, false);
            b->passes &= !entry && !end;
            b->open = !end && (entry || b->open);
        }
    }
    while (changed) {
        changed = false;
        for (size_t k = 0; k < h->blocks.n; k++) {
            LLVMValueRef last = LLVMGetBasicBlockTerminator(h->blocks.at[k].at);
            for (unsigned i = 0, n = h->blocks.at[k].open ? LLVMGetNumSuccessors(last) : 0; i < n; i++) {
                uint64_t next = (uintptr_t)LLVMGetSuccessor(last, i);
                struct block *to = &h->blocks.at[*dh_u64_map_find(&h->block_of, next)];
                changed |= to->passes && !to->open;
                to->open |= to->passes;
            }
        }
    }
}

static void list_blocks(struct heal *h, LLVMValueRef f)
{
    h->blocks.n = 0;
    dh_u64_map_clear(&h->block_of);
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
        struct block b = {.at = bb};
        *dh_u64_map_at(&h->block_of, (uintptr_t)bb) = h->blocks.n;
        dh_vec_push(&h->blocks, b);
    }
}

static bool ends_behind(const struct heal *h, const struct block *b, LLVMValueRef entry, uint32_t section)
{
    if (is_point(h, dh_ir_site_of(entry), section, false)) /* the entry is an end, too */
        return true;
    for (LLVMValueRef i = LLVMGetNextInstruction(entry); i; i = LLVMGetNextInstruction(i)) {
        uint32_t site = dh_ir_site_of(i);
        if (site != DH_NO_SITE && is_point(h, site, section, false))
            return true;
        if (site != DH_NO_SITE && is_point(h, site, section, true))
            return false;
    }
    return leads_to_live(h, b);
}

static void find_pointless(struct heal *h, uint32_t section)
{
    for (size_t k = 0; k < h->blocks.n; k++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(h->blocks.at[k].at); i; i = LLVMGetNextInstruction(i)) {
            uint32_t site = dh_ir_site_of(i);
            if (site != DH_NO_SITE && is_point(h, site, section, true) && !ends_behind(h, &h->blocks.at[k], i, section))
                dh_u64_set_add(&h->pointless, entry_key(i, section));
        }
}

/* The section is closed on edges from blocks where an end is live to blocks where none is. */
static void place_dead_ends(struct heal *h, uint32_t section)
{
    find_live(h, section);
    find_open(h, section);
    find_pointless(h, section);
    for (size_t i = 0; i < h->blocks.n; i++) {
        struct block *b = &h->blocks.at[i];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b->at);
        if (!b->open || !leads_to_live(h, b))
            continue;
        for (unsigned k = 0, n = LLVMGetNumSuccessors(end); k < n; k++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, k);
            struct block *to = &h->blocks.at[*dh_u64_map_find(&h->block_of, (uintptr_t)next)];
            /* A path that reaches the entry first opens the section anew. */
            if (to->live || !to->leads || to->closed)
                continue;
            dh_pass_position_block_start(&h->pass, next);
            call_section(h, DH_HOOK_HEAL_CLOSE, section, dh_pass_u32(&h->pass, h->entered[section]));
            to->closed = true;
        }
    }
}

/* ---- a function ---- */

static bool may_end_early(const struct heal *h, uint32_t section)
{
    return (h->here[section] & ENTRY) && !(h->here[section] & WHOLE) && h->is_local[section] && !h->waits[section] &&
           !is_needless(h, section);
}

static void place_hooks(struct heal *h, LLVMValueRef i)
{
    uint32_t site = dh_ir_site_of(i);
    if (site >= h->n_sites)
        return;
    if (dh_heal_op_may_wait(h->ops[site])) {
        LLVMValueRef place = place_of(h, site, i);
        dh_pass_position_before(&h->pass, i);
        dh_hooks_call(&h->pass.hooks, h->pass.b, DH_HOOK_HEAL_WAIT, &place);
    }
    if (!mark_of(h, site))
        return;
    /* Hooks placed first lie outside: the section opens before its first access enters the group. */
    place_points(h, site, i, true);
    place_points(h, site, i, false);
    place_group(h, site, i);
}

/* The function itself may be a section, or the end of one. */
static void place_function(struct heal *h, LLVMValueRef f)
{
    uint32_t own = dh_ir_function_site(f);
    const struct dh_section_point *p;
    if (own == DH_NO_SITE)
        return;
    for (uint32_t at = 0; (p = next_point(h, mark_of(h, own), &at));) {
        if (is_needless(h, p->section))
            continue;
        if (p->role == DH_SECTION_ENTRY && h->waits[p->section]) {
            dh_pass_position_block_start(&h->pass, LLVMGetEntryBasicBlock(f));
            call_section(h, DH_HOOK_HEAL_AWAIT, p->section, dh_pass_u32(&h->pass, own));
        } else if (p->role == DH_SECTION_ENTRY) {
            LLVMValueRef frame = frame_for(h, p->section);
            dh_pass_position_block_start(&h->pass, LLVMGetEntryBasicBlock(f));
            if (h->frame) /* after the frame's hook, which is the first */
                LLVMPositionBuilderBefore(h->pass.b, LLVMGetNextInstruction(h->frame));
            open_section(h, frame, p->section, NULL, dh_pass_u32(&h->pass, own));
        } else if (p->role != DH_SECTION_ENTRY && !h->is_local[p->section]) {
            h->work.n = 0;
            for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
                if (is_way_out(LLVMGetBasicBlockTerminator(bb)))
                    dh_vec_push(&h->work, LLVMGetBasicBlockTerminator(bb));
            for (size_t i = 0; i < h->work.n; i++) {
                dh_pass_position_before(&h->pass, leave_point(h->work.at[i]));
                call_section(h, DH_HOOK_HEAL_CLOSE, p->section, dh_pass_u32(&h->pass, own));
            }
        }
    }
}

/* A section from access to access is closed on every way on which it does not end; one of the whole activation is not.
 */
static bool is_left_open(const struct heal *h)
{
    for (uint32_t s = 0; s < h->plan->policy.file.n_sections; s++)
        if ((h->here[s] & ENTRY) && h->is_local[s] && !h->waits[s] && !may_end_early(h, s) && !is_needless(h, s))
            return true;
    return false;
}

static void heal_function(struct heal *h, LLVMValueRef f)
{
    h->function = f;
    h->frame = NULL;
    dh_pass_enter_function(&h->pass, f);
    look_at_function(h, f);
    list_blocks(h, f);
    dh_u64_set_clear(&h->pointless);
    h->is_left = is_left_open(h);
    for (uint32_t s = 0; s < h->plan->policy.file.n_sections; s++)
        if (may_end_early(h, s))
            place_dead_ends(h, s);
    place_function(h, f);
    h->work.n = 0;
    dh_pass_collect_memops(f, &h->work);
    for (size_t i = 0; i < h->work.n; i++)
        place_hooks(h, h->work.at[i]);
    place_ways_out(h, f);
}

/* ---- properties of groups ---- */

static bool is_single(const struct heal *h, uint32_t section)
{
    const struct dh_sections *f = &h->plan->policy.file;
    uint32_t entry = UINT32_MAX, n = 0;
    for (uint32_t i = 0; i < f->n_points; i++)
        if (f->points[i].section == section && f->points[i].role == DH_SECTION_ENTRY)
            entry = f->points[i].site;
    for (uint32_t i = 0; i < f->n_points; i++)
        if (f->points[i].section == section) {
            n++;
            if (f->points[i].site != entry)
                return false;
        }
    uint32_t site = h->entered[section];
    return n == 2 && site < h->n_sites && dh_op_info(h->ops[site])->group == DH_GROUP_ACCESS;
}

/* A single write is seen or not: the read is serialised before or after the section. */
static bool writes_once(const struct heal *h, uint32_t section)
{
    const struct dh_heal_summary *t =
        h->is_whole[section]
            ? dh_heal_object_locks_summary(&h->objects, h->plan->policy.group_of[section], h->is_whole[section])
            : NULL;
    return t && t->writes <= 1;
}

static bool lets_reads_pass(const struct heal *h, uint32_t section)
{
    const struct dh_sections *f = &h->plan->policy.file;
    if (writes_once(h, section))
        return true;
    for (uint32_t i = 0; i < f->n_points; i++)
        if (f->points[i].section == section && f->points[i].role == DH_SECTION_END &&
            !(f->points[i].allow & DH_ALLOW_READ))
            return false;
    return true;
}

/* With several variables, a read from outside can see a state that no serial order has. */
static void find_what_passes(struct heal *h)
{
    const struct dh_heal_policy *p = &h->plan->policy;
    for (uint32_t g = 0; g < p->n_groups; g++) {
        unsigned names = 0;
        bool singles = p->groups[g].means == DH_HEAL_LOCK, reads = singles;
        for (uint32_t i = 0; i < p->file.n_names; i++)
            names += p->variable_of[i] == g;
        for (uint32_t i = 0; i < p->file.n_sections; i++)
            if (p->group_of[i] == g) {
                h->is_single[i] = is_single(h, i);
                singles &= h->is_single[i];
                reads &= h->is_single[i] || lets_reads_pass(h, i);
            }
        h->only_singles |= (uint64_t)(singles && names == 1) << g;
        h->reads_pass |= (uint64_t)(reads && names == 1) << g;
    }
}

/* Functions in which a group is held on every path; only for sections of means `lock`. */
static void find_held(struct heal *h)
{
    const struct dh_heal_policy *p = &h->plan->policy;
    dh_heal_held_groups_init(&h->held, &h->objects);
    for (uint32_t s = 0; s < p->file.n_sections; s++)
        if (h->is_whole[s] && h->is_local[s] && !h->waits[s] && p->group_of[s] != DH_HEAL_NONE &&
            p->groups[p->group_of[s]].means == DH_HEAL_LOCK && !dh_function_has(h->is_whole[s], "presplitcoroutine"))
            dh_heal_held_groups_add(&h->held, h->is_whole[s], p->group_of[s]);
    dh_heal_held_groups_find(&h->held, h->pass.m);
}

static void find_jumps(struct heal *h)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(h->pass.m); f; f = LLVMGetNextFunction(f))
        h->jumps |= dh_function_has(f, "returns_twice");
}

static void find_objects(struct heal *h)
{
    struct dh_heal_sections s = {h->plan, h->ops, h->n_sites, h->is_local};
    dh_heal_object_locks_find(&h->objects, &h->pass, &s);
    LLVMValueRef old = LLVMGetNamedGlobal(h->pass.m, DH_HEAL_PER_OBJECT);
    if (old || !h->objects.groups)
        return;
    LLVMValueRef g = LLVMAddGlobal(h->pass.m, h->pass.i64, DH_HEAL_PER_OBJECT);
    LLVMSetInitializer(g, LLVMConstInt(h->pass.i64, h->objects.groups, 0));
    LLVMSetGlobalConstant(g, 1);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
}

/* Operations are copied: the table moves when places are added to it. */
static void make_room(struct heal *h, const struct dh_site_builder *builder)
{
    struct dh_site_table t = dh_site_builder_view(builder);
    size_t n = h->plan->policy.file.n_sections + 1;
    h->n_sites = t.n_sites;
    h->ops = dh_xcalloc(t.n_sites + 1, sizeof *h->ops);
    h->is_local = dh_xcalloc(n, sizeof *h->is_local);
    h->waits = dh_xcalloc(n, sizeof *h->waits);
    h->ends_at_access = dh_xcalloc(n, sizeof *h->ends_at_access);
    h->entered = dh_xcalloc(n, sizeof *h->entered);
    h->is_single = dh_xcalloc(n, sizeof *h->is_single);
    h->is_shared = dh_xcalloc(n, sizeof *h->is_shared);
    h->is_whole = dh_xcalloc(n, sizeof(LLVMValueRef));
    h->here = dh_xcalloc(n, sizeof *h->here);
    for (uint32_t i = 0; i < t.n_sites; i++)
        h->ops[i] = t.sites[i].op;
}

bool dh_instrument_heal(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places, struct dh_err *err)
{
    struct heal h = {.plan = plan->heal};
    if (!plan->heal)
        return dh_err_set(err, "the plan heals, but names no policy; expected 'heal@' and the name of one");
    if (!dh_pass_init(&h.pass, m, plan, places, err))
        return false;
    make_room(&h, places->sites);
    dh_places_enter_module(places, m);
    find_ends(&h);
    find_local(&h);
    find_objects(&h);
    find_held(&h);
    find_jumps(&h);
    find_what_passes(&h);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (dh_pass_may_instrument(&h.pass, f) && !dh_function_has(f, "presplitcoroutine"))
            heal_function(&h, f);
    dh_attributes_relax(m);
    dh_places_leave_module(places);
    free(h.ops);
    free(h.is_local);
    free(h.waits);
    free(h.ends_at_access);
    free(h.entered);
    free(h.is_single);
    free(h.is_shared);
    free(h.is_whole);
    free(h.here);
    dh_vec_release(&h.work);
    dh_vec_release(&h.blocks);
    dh_u64_map_release(&h.block_of);
    dh_u64_set_release(&h.pointless);
    dh_heal_held_groups_release(&h.held);
    dh_heal_object_locks_release(&h.objects);
    dh_pass_release(&h.pass);
    return true;
}
