/* Shared by debug_info.c and debug_types.c only. */
#ifndef DH_IR_DEBUG_INFO_INTERNAL_H
#define DH_IR_DEBUG_INFO_INTERNAL_H

#include "ir/debug_info.h"

struct dh_di {
    LLVMModuleRef module;
    LLVMContextRef context;
    struct dh_arena arena;
    struct dh_ptr_map types, variables, globals, scopes, expressions, units, functions;
    unsigned dbg_kind;
    /* Definitions by last name component, for declarations and casts; built when first needed. */
    struct record_bucket **records;
    struct dh_ptr_map walked;
    bool has_records;
};

/* Positions of operands in debug nodes, fixed by LLVM 19. */
enum {
    OP_SCOPE = 1, /* types, subprograms, namespaces, blocks */
    OP_NAME = 2,
    OP_TYPE_BASE = 3,
    OP_TYPE_ELEMENTS = 4,
    OP_TYPE_IDENTIFIER = 7,
    OP_SUBROUTINE_TYPES = 3,
    OP_SUBPROGRAM_LINKAGE = 3,
    OP_SUBPROGRAM_TYPE = 4,
    OP_SUBPROGRAM_UNIT = 5,
    OP_SUBPROGRAM_RETAINED = 7,
    OP_UNIT_RETAINED = 5,
    OP_UNIT_GLOBALS = 6,
    OP_VARIABLE_SCOPE = 0,
    OP_VARIABLE_NAME = 1,
    OP_VARIABLE_TYPE = 3,
    OP_GLOBAL_DECLARATION = 6
};

enum { MAX_OPERANDS = 16 };

/* First `MAX_OPERANDS` operands; the rest of `ops` is NULL. */
unsigned dh_md_operands(struct dh_di *di, LLVMMetadataRef node, LLVMMetadataRef ops[MAX_OPERANDS]);
/* All of them, in the arena. */
LLVMMetadataRef *dh_md_all_operands(struct dh_di *di, LLVMMetadataRef node, unsigned *n);
/* "ns::Class::" of an enclosing scope, "" at file level; functions in between only when asked for. */
const char *dh_di_qualifier(struct dh_di *di, LLVMMetadataRef scope, bool functions);
void dh_di_free_records(struct dh_di *di);

#endif
