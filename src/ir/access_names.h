/* Source names of accessed memory: variable, field, expression and type. Layer: ir. Needs: debug intrinsics in the old
 * format. Call dh_namer_enter for each function; answers live until the next. */
#ifndef DH_IR_ACCESS_NAMES_H
#define DH_IR_ACCESS_NAMES_H

#include "ir/debug_info.h"

struct dh_access_name {
    const char *variable, *field, *expr, *type; /* never NULL */
    unsigned flags;                             /* dh_site_flag */
};

/* An address operand, and how it is accessed. */
struct dh_address {
    LLVMValueRef instruction, pointer;
    LLVMTypeRef type;  /* of the value, NULL for memory operations and arguments */
    uint64_t bytes;    /* 0 = unknown */
    uint32_t order;    /* instruction count of the function at that point */
    bool synchronises; /* operand of a synchronisation call */
    bool source;       /* source operand of a copy */
};

struct dh_namer;
struct dh_namer *dh_namer_new(LLVMModuleRef m, struct dh_di *di);
void dh_namer_free(struct dh_namer *n);
void dh_namer_enter(struct dh_namer *n, LLVMValueRef function);
void dh_namer_find(struct dh_namer *n, const struct dh_address *a, struct dh_access_name *name);
/* Whether the compiler's type information says that an access is to a member of a record. */
bool dh_namer_is_member(struct dh_namer *n, LLVMValueRef instruction);
/* Names a value that is passed itself, such as the thread a join waits for. */
void dh_namer_value(struct dh_namer *n, LLVMValueRef value, uint32_t order, struct dh_access_name *name);

/* Set before SROA on an access: the local pointer variable that its address was loaded from. */
#define DH_VIA_METADATA "dh.via"

/* Set before linking on an address computation: the name of its record. */
#define DH_RECORD_METADATA "dh.record"

/* The address of a vtable, also where no member says so: constructors store them into virtual bases. */
bool dh_ir_stores_vtable(LLVMValueRef instruction);

#endif
