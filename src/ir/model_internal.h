/* Shared by the translation from LLVM IR to the abstract program. Layer: ir, for model_*.c only. */
#ifndef DH_IR_MODEL_INTERNAL_H
#define DH_IR_MODEL_INTERNAL_H

#include "base/arena.h"
#include "base/map.h"
#include "ir/debug_info.h"
#include "model/library_models.h"
#include "model/program.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

struct dh_model_reader {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    struct dh_program *p;
    const struct dh_library_models *models;
    bool strict; /* sound (ir/model_reader.h) */
    struct dh_di *di;
    struct dh_arena arena;       /* of the whole module */
    struct dh_arena body;        /* of the current function */
    struct dh_ptr_map functions; /* LLVM function -> index + 1 */
    struct dh_ptr_map globals;   /* LLVM global -> index + 1 */
    struct dh_ptr_map folded;    /* LLVM function -> what it always returns, see model_fold.c */
    struct dh_ptr_map signatures;
    DH_VEC(uint32_t) hidden; /* globals that stand for variables of libraries */
    uint32_t n_signatures;
    bool virtual_members, distant_members; /* there are pointers to such member functions */
    dh_value data, unknown;
    /* of the current function */
    LLVMValueRef function;
    uint32_t index;
    uint32_t varargs;             /* register of the array beyond the parameters, DH_NONE */
    struct dh_ptr_map values;     /* LLVM value -> dh_value + 1 */
    struct dh_ptr_map blocks;     /* LLVM block -> struct dh_read_block */
    struct dh_ptr_map wide;       /* integers that may hold pointers */
    DH_VEC(LLVMValueRef) pending; /* scratch of model_pointer_integers.c */
    uint32_t n_blocks;            /* made so far in this function */
    uint32_t first_edge;
    LLVMValueRef at; /* instruction being read: whose place and site new instructions get */
    uint32_t site, place;
    struct dh_namer *namer; /* made when needed; `named`: the function it is in */
    LLVMValueRef named;
    bool temporary; /* the last named object is a temporary: no other code can reach it */
    bool throws;    /* the call just read leaves by an exception only */
};

struct dh_read_block {
    uint32_t first, last; /* blocks of the program, numbers within the function */
    uint32_t order;       /* among those reached, from 0 */
};

/* Edges to blocks of the module, while a function is read: their order with this bit. */
#define DH_EDGE_UNREAD 0x80000000u

/* ---- model_values.c ---- */
dh_value dh_read_value(struct dh_model_reader *r, LLVMValueRef v);
/* Address that a constant expression is, as far as known. */
dh_value dh_read_constant(struct dh_model_reader *r, LLVMValueRef v);
void dh_read_initialiser(struct dh_model_reader *r, uint32_t global, LLVMValueRef value);
enum dh_register_kind dh_read_kind(struct dh_model_reader *r, LLVMValueRef v);
uint32_t dh_read_library_variable(struct dh_model_reader *r, const char *name, bool tls);
LLVMValueRef dh_read_strip_alias(LLVMValueRef v);
void dh_read_bind(struct dh_model_reader *r, LLVMValueRef v, dh_value value);
/* A register for the result of `v`; DH_NONE where analyses need none (void, floating point). */
uint32_t dh_read_result(struct dh_model_reader *r, LLVMValueRef v);

/* ---- model_emit.c: new instructions, at the place of the one being read ---- */
struct dh_inst *dh_emit(struct dh_model_reader *r, enum dh_inst_op op, uint32_t result);
struct dh_inst *dh_emit1(struct dh_model_reader *r, enum dh_inst_op op, uint32_t result, dh_value a);
struct dh_inst *dh_emit2(struct dh_model_reader *r, enum dh_inst_op op, uint32_t result, dh_value a, dh_value b);
dh_value dh_emit_load(struct dh_model_reader *r, dh_value address);
dh_value dh_emit_offset(struct dh_model_reader *r, dh_value address, int64_t bytes);
void dh_emit_store(struct dh_model_reader *r, dh_value address, dh_value value, uint32_t size);
uint32_t dh_emit_register(struct dh_model_reader *r);
/* Ends the current block, begins the next: number of the new one. */
uint32_t dh_emit_block(struct dh_model_reader *r);
void dh_emit_jump(struct dh_model_reader *r, uint32_t block);
void dh_emit_set_place(struct dh_model_reader *r, LLVMValueRef instruction);

/* ---- model_address.c ---- */
dh_value dh_read_gep(struct dh_model_reader *r, LLVMValueRef gep);
/* Bytes from that address to the end of the array or object it lies in, as far as its type tells; 0 = unknown. */
uint64_t dh_read_extent(struct dh_model_reader *r, LLVMValueRef address);

/* ---- model_fold.c ---- */
/* Puts the blocks that can be reached into `blocks`, numbered in their order. */
void dh_read_reachable_blocks(struct dh_model_reader *r);
/* Whether the edge between two blocks is feasible. */
bool dh_read_is_feasible_edge(struct dh_model_reader *r, LLVMBasicBlockRef from, LLVMBasicBlockRef to);

/* ---- model_member_pointers.c ---- */
/* Which kinds of member pointers the module contains. */
void dh_read_member_pointers(struct dh_model_reader *r);
/* Whether `v` is a member of such a pair: part 0 = function, 1 = adjustment. */
bool dh_read_is_member_pointer(LLVMValueRef v, unsigned part);

/* ---- model_library_objects.c ---- */
/* Effects of a member function of the C++ library on its object and reference arguments. */
void dh_read_object_call(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef callee, const dh_value *at,
                         unsigned n);
/* A call that picks an element by its index. */
bool dh_read_element(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef callee, const dh_value *at, unsigned n);
/* The model of a function stands for its body, too. */
bool dh_read_model_replaces_body(struct dh_model_reader *r, const char *name, const struct dh_library_function *known);
/* A local guard (std::unique_lock) acquires or releases its lock again. */
bool dh_read_relock(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef callee);
/* Instructions from here on are about what the pointer leads to. */
void dh_read_name_argument(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef pointer, uint32_t bytes);

/* ---- model_pointer_integers.c ---- */
void dh_read_pointer_integers(struct dh_model_reader *r);

/* ---- model_calls.c ---- */
/* A call or invoke. False when control does not come back. */
bool dh_read_call(struct dh_model_reader *r, LLVMValueRef call);
/* A synthesized body for a library function whose address is taken. */
void dh_read_library_body(struct dh_model_reader *r, LLVMValueRef function, uint32_t index);
uint32_t dh_read_signature(struct dh_model_reader *r, LLVMTypeRef type);

/* ---- model_effects.c ---- */
struct dh_arguments {
    const dh_value *at;
    const LLVMValueRef *values; /* NULL: not known */
    unsigned n;
    uint32_t result; /* register or DH_NONE */
    bool pointer;    /* the result may carry a pointer */
    const char *name;
};
/* False when control does not return; `throws`: it leaves by an exception. */
bool dh_read_effects(struct dh_model_reader *r, const struct dh_library_function *f, const struct dh_arguments *a);
void dh_read_unknown_call(struct dh_model_reader *r, const struct dh_arguments *a);

/* ---- model_body.c ---- */
void dh_read_body(struct dh_model_reader *r, LLVMValueRef function, uint32_t index);

#endif
