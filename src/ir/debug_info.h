/* Debug information (DWARF metadata) as plain structs: types, variables, scopes, expressions. Layer: ir. LLVM-C has few
 * getters, so operands are read by position once and cached. Results live as long as the dh_di. Types are read lazily:
 * base and elements through their functions. Not thread-safe. */
#ifndef DH_IR_DEBUG_INFO_H
#define DH_IR_DEBUG_INFO_H

#include "base/arena.h"
#include "base/map.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stdint.h>

enum dh_tag {
    DH_TAG_ARRAY = 0x01,
    DH_TAG_CLASS = 0x02,
    DH_TAG_ENUM = 0x04,
    DH_TAG_MEMBER = 0x0d,
    DH_TAG_POINTER = 0x0f,
    DH_TAG_REFERENCE = 0x10,
    DH_TAG_STRUCT = 0x13,
    DH_TAG_SUBROUTINE = 0x15,
    DH_TAG_TYPEDEF = 0x16,
    DH_TAG_UNION = 0x17,
    DH_TAG_INHERITANCE = 0x1c,
    DH_TAG_MEMBER_POINTER = 0x1f,
    DH_TAG_BASE = 0x24,
    DH_TAG_CONST = 0x26,
    DH_TAG_VOLATILE = 0x35,
    DH_TAG_RESTRICT = 0x37,
    DH_TAG_UNSPECIFIED = 0x3b,
    DH_TAG_RVALUE_REFERENCE = 0x42,
    DH_TAG_TEMPLATE_ALIAS = 0x43,
    DH_TAG_ATOMIC = 0x47
};

struct dh_type {
    LLVMMetadataRef node;
    const char *name;       /* "" = none */
    const char *spelled[2]; /* as C, as C++; filled when first asked for */
    LLVMMetadataRef scope_node, base_node, elements_node, identifier_node;
    struct dh_type *base, *complete;
    struct dh_type **elements;
    uint64_t size, offset; /* bits */
    uint32_t n_elements;
    unsigned flags; /* LLVMDIFlags */
    uint16_t tag;
    bool has_base, has_elements, has_complete;
};

struct dh_variable {
    const char *name; /* globals of C++: qualified */
    struct dh_type *type;
    uint64_t part; /* bits into it, when an optimisation has split a global */
    bool artificial;
};

/* A place in the source: innermost function and file of a scope. */
struct dh_scope {
    const char *file;
    const char *function;
    LLVMMetadataRef subprogram;
    bool cxx;
};

/* What a DIExpression does to the value it is attached to. */
struct dh_expression {
    bool understood;
    bool deref;             /* the value is the address of the variable */
    int64_t add;            /* added before the dereference */
    uint64_t fragment;      /* bit offset into the variable */
    uint64_t fragment_size; /* bits, 0 = whole variable */
};

struct dh_di;
struct dh_di *dh_di_new(LLVMModuleRef m);
void dh_di_free(struct dh_di *di);

struct dh_type *dh_di_type(struct dh_di *di, LLVMMetadataRef node);
struct dh_type *dh_type_base(struct dh_di *di, struct dh_type *t);
struct dh_type *const *dh_type_elements(struct dh_di *di, struct dh_type *t, uint32_t *n);
/* Without typedefs and qualifiers; a declaration becomes the definition when some module has one. */
struct dh_type *dh_type_strip(struct dh_di *di, struct dh_type *t);
/* What a pointer or reference points to, NULL for everything else. */
struct dh_type *dh_type_pointee(struct dh_di *di, struct dh_type *t, bool *reference);
bool dh_type_is_record(const struct dh_type *t);
/* Size in bits through typedefs, 0 = unknown. */
uint64_t dh_type_bits(struct dh_di *di, struct dh_type *t);
/* Array: element type, and number of dimensions. */
struct dh_type *dh_type_element(struct dh_di *di, struct dh_type *t, unsigned *dimensions);
/* As source would write it: "struct node *", "ns::Box<int>". */
const char *dh_type_spell(struct dh_di *di, struct dh_type *t, bool cxx);
/* How objects of a record are called when a pointer leads to them; "" for a record without any name. */
const char *dh_type_label(struct dh_di *di, struct dh_type *t, bool cxx);
/* Record that the IR names so ("struct.account", "class.ns::Box.12"), NULL = none known. */
struct dh_type *dh_di_record_named(struct dh_di *di, const char *ir_name, uint64_t bits);
bool dh_type_has_ir_name(struct dh_di *di, struct dh_type *t, const char *ir_name);

const struct dh_variable *dh_di_variable(struct dh_di *di, LLVMMetadataRef node);
/* Debug variable of a global, NULL when it has none. */
const struct dh_variable *dh_di_global(struct dh_di *di, LLVMValueRef global);
const struct dh_scope *dh_di_scope(struct dh_di *di, LLVMMetadataRef scope);
const struct dh_expression *dh_di_expression(struct dh_di *di, LLVMMetadataRef node);
/* Source name and return type of a function with a subprogram, else false. */
bool dh_di_function(struct dh_di *di, LLVMValueRef function, const char **name, struct dh_type **result);

/* Node inside a metadata operand, NULL when it is none. */
LLVMMetadataRef dh_md_node(LLVMValueRef value);
/* Value inside a metadata operand (dbg.value), NULL when it is none or several. */
LLVMValueRef dh_md_value(LLVMValueRef value);

#endif
