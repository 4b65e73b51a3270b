/* Late placement: race and lockset hooks, after simplification and before vectorisation.
 * Needs: sanitize_thread since before simplification (dh_instrument_prepare), so that each access left is one the
 * source has. Provides: one hook before each access that other threads may see, and frames. */
#include "instrument/attributes.h"
#include "instrument/escape.h"
#include "instrument/frames.h"
#include "instrument/instrument.h"
#include "instrument/places.h"
#include "instrument/resolve.h"
#include "instrument/settle.h"
#include "instrument/weave.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

struct late {
    struct dh_weave w;
    struct dh_escape escape;
    struct dh_resolver resolver;
    unsigned nosanitize;
    dh_value_vec work;
};

/* Sites that could not be told are worth hooks only as long as some site wants them. */
static bool wanted(struct late *l, const struct dh_memop *a, uint32_t *site)
{
    *site = dh_ir_site_of(a->at);
    if (*site != DH_NO_SITE)
        return dh_plan_classes(l->w.plan, *site) & DH_CLASSES_LATE;
    if (a->kind == DH_MEMOP_CALL)
        return false; /* calls are known by their tag alone */
    struct dh_resolved r = dh_resolver_find(&l->resolver, a);
    *site = r.site;
    if (!(r.classes & DH_CLASSES_LATE))
        return false;
    if (r.site == DH_NO_SITE)
        l->w.counts->unplaced++;
    else
        l->w.counts->lost_tags++;
    return true;
}

static bool reads_only(enum dh_op op)
{
    return op == DH_OP_READ || op == DH_OP_ATOMIC_LOAD;
}

static bool is_shared(struct late *l, LLVMValueRef addr, bool read)
{
    return !dh_escape_is_private(&l->escape, addr) && !(read && dh_escape_is_constant(&l->escape, addr));
}

/* Can anybody else see it? For memory intrinsics either end will do; each is asked again when placed. */
static bool matters(struct late *l, const struct dh_memop *a)
{
    if (!a->addr)
        return true;
    if (!dh_memop_is_ordinary(a) || LLVMGetMetadata(a->at, l->nosanitize))
        return false;
    if (a->kind == DH_MEMOP_MEMORY && a->size && LLVMIsAConstantInt(a->size) && !a->bytes)
        return false;
    return is_shared(l, a->addr, reads_only(a->op)) || (a->src && is_shared(l, a->src, true));
}

static bool is_read(const struct dh_memop *a)
{
    return a->op == DH_OP_READ;
}

static bool has_sized_hook(const struct dh_memop *a, int *row)
{
    static const uint64_t sizes[] = {1, 2, 4, 8, 16};
    bool vector = LLVMGetTypeKind(a->type) == LLVMVectorTypeKind;
    for (*row = 0; *row < 5; ++*row)
        if (sizes[*row] == a->bytes)
            return !vector || LLVMGetAlignment(a->at) >= a->bytes;
    return false;
}

static void place_range(struct late *l, LLVMValueRef addr, LLVMValueRef size, bool read, LLVMValueRef place)
{
    LLVMValueRef args[] = {addr, size, place};
    dh_hooks_call(&l->w.hooks, l->w.b, read ? DH_HOOK_READ_RANGE : DH_HOOK_WRITE_RANGE, args);
    l->w.counts->ranges++;
}

static void place_plain(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    int row;
    if (!has_sized_hook(a, &row)) {
        place_range(l, a->addr, dh_weave_u64(&l->w, a->bytes), is_read(a), place);
        return;
    }
    LLVMValueRef args[] = {a->addr, place};
    dh_hooks_call(&l->w.hooks, l->w.b, (is_read(a) ? DH_HOOK_READ1 : DH_HOOK_WRITE1) + row, args);
    if (is_read(a))
        l->w.counts->reads++;
    else
        l->w.counts->writes++;
}

static void place_atomic(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    LLVMValueRef args[] = {a->addr, dh_weave_u32(&l->w, dh_memop_what(a)), place};
    dh_hooks_call(&l->w.hooks, l->w.b, DH_HOOK_ATOMIC, args);
    l->w.counts->atomics++;
}

static void place_fence(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    LLVMValueRef args[] = {dh_weave_u32(&l->w, dh_memop_what(a)), place};
    dh_hooks_call(&l->w.hooks, l->w.b, DH_HOOK_FENCE, args);
    l->w.counts->atomics++;
}

static void place_memory(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    LLVMValueRef size = dh_weave_size(&l->w, a->size);
    if (a->src && is_shared(l, a->src, true))
        place_range(l, a->src, size, true, place);
    if (is_shared(l, a->addr, false))
        place_range(l, a->addr, size, false, place);
}

static void place_call(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    (void)a;
    dh_hooks_call(&l->w.hooks, l->w.b, DH_HOOK_CALL, &place);
    l->w.counts->calls++;
}

static void place(struct late *l, LLVMValueRef i)
{
    static void (*const placers[])(struct late *, const struct dh_memop *, LLVMValueRef) = {
        [DH_MEMOP_PLAIN] = place_plain,   [DH_MEMOP_ATOMIC] = place_atomic, [DH_MEMOP_FENCE] = place_fence,
        [DH_MEMOP_MEMORY] = place_memory, [DH_MEMOP_CALL] = place_call,
    };
    struct dh_memop a;
    uint32_t site;
    if (!dh_memop_of(&l->w, i, &a) || !matters(l, &a) || !wanted(l, &a, &site))
        return;
    dh_weave_before(&l->w, i);
    uint32_t id = dh_places_id(l->w.places, site, LLVMInstructionGetDebugLoc(i));
    placers[a.kind](l, &a, dh_weave_u32(&l->w, id));
}

static void place_all(struct late *l, LLVMValueRef f)
{
    dh_weave_function(&l->w, f);
    dh_escape_next_function(&l->escape);
    l->work.n = 0;
    dh_weave_collect(f, &l->work);
    for (size_t i = 0; i < l->work.n; i++)
        place(l, l->work.at[i]);
}

bool dh_instrument_late(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places,
                        struct dh_instrument_counts *counts, struct dh_err *err)
{
    struct late l = {.nosanitize = LLVMGetMDKindIDInContext(LLVMGetModuleContext(m), "nosanitize", 10)};
    if (!dh_weave_init(&l.w, m, plan, places, counts, err))
        return false;
    dh_places_begin(places, m);
    if (dh_frames_present(m)) {
        dh_settle_strip_frames(&l.w);
        dh_settle_places(&l.w);
    }
    dh_escape_init(&l.escape, l.w.c);
    dh_resolver_init(&l.resolver, places, plan);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (!dh_weave_allows(&l.w, f))
            continue;
        place_all(&l, f);
        dh_frames_place(&l.w, f);
    }
    dh_attributes_relax(m);
    dh_places_end(places);
    dh_resolver_release(&l.resolver);
    dh_escape_release(&l.escape);
    dh_vec_release(&l.work);
    dh_weave_release(&l.w);
    return true;
}
