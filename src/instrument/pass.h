/* State of one instrumentation pass over a module: builder, types, hooks; classification of memory operations; queries
 * on calls and functions. Layer: instrument. One per dh_instrument_* call; owns its builder and caches, borrows module,
 * plan and places. */
#ifndef DH_INSTRUMENT_PASS_H
#define DH_INSTRUMENT_PASS_H

#include "base/set.h"
#include "base/vec.h"
#include "instrument/hooks.h"
#include "instrument/instrument.h"

#include <llvm-c/Target.h>

struct dh_pass {
    LLVMModuleRef m;
    LLVMContextRef c;
    LLVMTargetDataRef layout;
    LLVMBuilderRef b;
    LLVMTypeRef i32, i64, ptr;
    struct dh_hooks hooks;
    const struct dh_plan *plan;
    struct dh_places *places;
    struct dh_u64_set off_limits; /* functions in which nothing may be placed */
    LLVMMetadataRef subprogram;   /* of the function being woven; NULL without debug information */
};

typedef DH_VEC(LLVMValueRef) dh_value_vec;

/* Every access, fence, memory intrinsic and call falls into one of these. */
enum dh_memop_kind {
    DH_MEMOP_NONE,
    DH_MEMOP_PLAIN,  /* load, store */
    DH_MEMOP_ATOMIC, /* load, store, rmw, compare-exchange */
    DH_MEMOP_FENCE,
    DH_MEMOP_MEMORY, /* memcpy, memmove, memset intrinsics */
    DH_MEMOP_CALL    /* any other call, inline assembly included */
};

struct dh_memop {
    LLVMValueRef at;
    LLVMValueRef addr; /* destination of a memory intrinsic; NULL for fences and calls */
    LLVMValueRef src;  /* source of a copy; NULL else */
    LLVMValueRef size; /* of a memory intrinsic */
    LLVMTypeRef type;  /* of the value accessed; NULL when there is none */
    uint64_t bytes;    /* 0 when only known at run time */
    enum dh_memop_kind kind;
    enum dh_op op; /* DH_OP_NONE for calls */
    enum dh_order order;
    uint32_t more; /* added to `what`: DH_STALE_* */
};

bool dh_pass_init(struct dh_pass *pass, LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places,
                  struct dh_err *err);
void dh_pass_release(struct dh_pass *pass);

/* May anything be placed into this function? */
bool dh_pass_may_instrument(const struct dh_pass *pass, LLVMValueRef function);
/* Must precede the placing of hooks in a function: sets what dh_pass_position_before falls back on. */
void dh_pass_enter_function(struct dh_pass *pass, LLVMValueRef function);
/* Instructions of `function` that dh_memop_of could describe, in order; hook calls and debug intrinsics left out. */
void dh_pass_collect_memops(LLVMValueRef function, dh_value_vec *out);
bool dh_memop_of(const struct dh_pass *pass, LLVMValueRef instruction, struct dh_memop *out);
/* Address and value can be passed to hooks: no segment registers, no machine-only types. */
bool dh_memop_is_ordinary(const struct dh_memop *a);
uint32_t dh_memop_what(const struct dh_memop *a);

/* Position the builder with the debug location of `near`. */
void dh_pass_position_before(struct dh_pass *pass, LLVMValueRef near);
void dh_pass_position_after(struct dh_pass *pass, LLVMValueRef near);
/* First place of a block where ordinary instructions may stand. */
void dh_pass_position_block_start(struct dh_pass *pass, LLVMBasicBlockRef block);
LLVMValueRef dh_pass_u32(const struct dh_pass *pass, uint32_t value);
LLVMValueRef dh_pass_u64(const struct dh_pass *pass, uint64_t value);
/* A run-time size as u64, widened at the builder's position. */
LLVMValueRef dh_pass_size_u64(struct dh_pass *pass, LLVMValueRef size);

/* Attribute of a function or of a call (its own or its callee's). */
/* no_sanitize("thread") and the like: plain accesses of the function are not checked. */
bool dh_function_is_unchecked(LLVMValueRef f);
bool dh_function_has(LLVMValueRef function, const char *attribute);
bool dh_call_has(LLVMValueRef call, LLVMAttributeIndex where, const char *attribute);
/* The function called, NULL for indirect calls and inline assembly. */
LLVMValueRef dh_called_function(LLVMValueRef call);
bool dh_is_call(LLVMValueRef instruction);
bool dh_is_intrinsic_call(LLVMValueRef instruction);
bool dh_is_musttail(LLVMValueRef instruction);

#endif
