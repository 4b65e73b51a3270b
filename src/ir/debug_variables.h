/* Debug intrinsics of one function, indexed by value: which source variables a value holds or is the address of. Layer:
 * ir. Needs: debug intrinsics in the old format. Valid until the next dh_bindings_read. */
#ifndef DH_IR_DEBUG_VARIABLES_H
#define DH_IR_DEBUG_VARIABLES_H

#include "ir/debug_info.h"

struct dh_binding {
    struct dh_binding *next; /* another variable of the same value */
    LLVMMetadataRef node;    /* DILocalVariable */
    const struct dh_variable *variable;
    const struct dh_expression *expression;
    uint32_t order;  /* instruction count of the function at that point */
    bool is_address; /* the value is where the variable lives, not what it holds */
    bool inlined;
};

struct dh_bindings {
    struct dh_ptr_map by_value;
    struct dh_arena arena;
};

void dh_bindings_read(struct dh_bindings *b, struct dh_di *di, LLVMValueRef function);
const struct dh_binding *dh_bindings_find(const struct dh_bindings *b, LLVMValueRef value);
void dh_bindings_release(struct dh_bindings *b);

#endif
