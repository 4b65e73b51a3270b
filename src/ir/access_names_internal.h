/* Shared by access_names.c, value_names.c and address_target.c only. Two mutually recursive queries: what an address
 * points to (struct target, address_target.c), and the source expression of a value (struct spelling, value_names.c).
 * dh_name_compose (access_names.c) combines them. */
#ifndef DH_IR_ACCESS_NAMES_INTERNAL_H
#define DH_IR_ACCESS_NAMES_INTERNAL_H

#include "ir/access_names.h"
#include "ir/debug_variables.h"
#include "ir/member_path.h"

#include <llvm-c/Target.h>

struct dh_namer {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    struct dh_di *di;
    struct dh_source_texts *sources;
    struct dh_bindings bindings;
    struct dh_ptr_map spellings; /* of values without a variable of their own */
    struct dh_arena arena;       /* of the current function */
    LLVMValueRef function;
    bool cxx;
    unsigned tbaa_kind, via_kind, record_kind, sret_attribute;
};

/* How the source writes a value. */
struct spelling {
    const char *variable, *expr, *field;
    struct dh_type *type;
    bool known, artificial;
    bool is_reference; /* a call that returns a reference whose type is not known */
};

enum target_kind { TARGET_UNKNOWN, TARGET_VARIABLE, TARGET_POINTEE };

/* What an address points to: an object and an offset in it. */
struct target {
    enum target_kind kind;
    const char *variable, *expr; /* of the object, or of the pointer that leads to it */
    const char *field;           /* member part of a pointer that is itself a member, "" = none */
    struct dh_type *type;        /* of the object */
    uint64_t record_bits;        /* size of the record below */
    const char *record;          /* IR name of the record when `type` is unknown or for unions, "" = none */
    int64_t offset;              /* bytes */
    unsigned steps;              /* levels of nested members that the address selects */
    unsigned flags;
    bool wandered;  /* pointer arithmetic on the pointer itself */
    bool reference; /* reached through a reference */
};

/* Context of a query, to choose among several variables that hold the same value. */
struct use {
    const char *record; /* outermost record the address goes through */
    uint64_t bits;
    LLVMMetadataRef via;
    uint32_t order;
};

enum { MAX_CHAIN = 64, MAX_RECURSION = 12 };

/* access_names.c */
const char *dh_namer_join(struct dh_namer *n, const char *a, const char *b, const char *c);
/* Something that binds tighter follows: "*p" becomes "(*p)". */
const char *dh_namer_primary(struct dh_namer *n, const char *text);
/* Scalar type name of an access by its TBAA tag, "" = none. */
const char *dh_namer_tbaa(struct dh_namer *n, LLVMValueRef instruction);
void dh_name_compose(struct dh_namer *n, const struct target *t, struct dh_named_access *access,
                     struct dh_access_name *name, struct dh_type **type);

/* value_names.c */
const struct dh_binding *dh_binding_best(struct dh_namer *n, LLVMValueRef v, const struct use *use);
bool dh_value_spell(struct dh_namer *n, LLVMValueRef v, const struct use *use, int depth, struct spelling *s);

/* address_target.c */
/* Of instructions and constant expressions, 0 for everything else. */
LLVMOpcode dh_value_opcode(LLVMValueRef v);
LLVMValueRef dh_value_forwarded(LLVMValueRef v);
/* Bytes into the object, modulo its size when the pointer iterates over an array of them. */
uint64_t dh_target_offset(struct dh_namer *n, const struct target *t);
bool dh_target_find(struct dh_namer *n, LLVMValueRef pointer, const struct use *asked, int depth, struct target *t);

#endif
