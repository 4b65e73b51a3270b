/* From a type and a bit offset to the member that is accessed: ".limits.max", "[].key". Layer: ir. Results live in the
 * arena of the caller. */
#ifndef DH_IR_MEMBER_PATH_H
#define DH_IR_MEMBER_PATH_H

#include "ir/debug_info.h"
#include "ir/source_text.h"

enum dh_value_kind { DH_VALUE_ANY, DH_VALUE_INTEGER, DH_VALUE_FLOAT, DH_VALUE_POINTER };

/* Properties of an access that distinguish members at the same offset. */
struct dh_named_access {
    uint64_t bits;                   /* 0 = unknown */
    LLVMValueRef instruction;        /* the load or store; its users show which bits are demanded. May be NULL */
    LLVMMetadataRef location;        /* where it is, NULL = unknown */
    struct dh_source_texts *sources; /* NULL = do not read source files */
    const char *tbaa;                /* name of the scalar type, "" = unknown */
    const char *ir_record;           /* innermost record the address went through, "" = none */
    uint64_t record_bits;            /* size of that record */
    unsigned steps;                  /* least number of nested members that the address selects */
    enum dh_value_kind kind;
    bool whole; /* a memory operation or an argument: may mean an aggregate */
    bool
        synchronises; /* a lock, condition, semaphore...: the member of that type, not the record that begins with it */
};

struct dh_member_path {
    const char *text;      /* ".limits.max", "[].key", "" = the object itself */
    struct dh_type *type;  /* of what was found */
    struct dh_type *owner; /* base class that declares the first member, or NULL */
    bool bitfield, element, artificial;
};

void dh_member_path_find(struct dh_di *di, struct dh_arena *arena, struct dh_type *t, uint64_t offset,
                         const struct dh_named_access *want, struct dh_member_path *path);
/* Whether a record that the IR calls so, or one of `bits` unless that is 0, lies at `offset` of `t` at any depth. */
bool dh_member_path_has_record(struct dh_di *di, struct dh_type *t, uint64_t offset, const char *ir_name,
                               uint64_t bits);

#endif
