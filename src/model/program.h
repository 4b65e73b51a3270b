/* The abstract program: an intermediate representation of a whole program for static analysis. Layer: model.
 * Functions of basic blocks in SSA form; only pointers, memory, synchronisation and control are kept, all other
 * values are `data`. Flat arrays, indices instead of pointers; indices are of the whole program except registers,
 * which count from 0 in their function (parameters first). The program owns all; read-only once built. Not
 * thread-safe. */
#ifndef DH_MODEL_PROGRAM_H
#define DH_MODEL_PROGRAM_H

#include "base/vec.h"
#include "event/site.h"

#include <stdbool.h>
#include <stdint.h>

#define DH_NONE UINT32_MAX /* no register, function, block, global, instruction */

enum dh_inst_op {
#define DH_INST(id, word, class, operands) DH_I_##id,
#include "model/inst.def"
#undef DH_INST
    DH_I_COUNT
};

enum dh_inst_class {
    DH_CLASS_VALUE,
    DH_CLASS_MEMORY,
    DH_CLASS_HEAP,
    DH_CLASS_CALL,
    DH_CLASS_SYNC,
    DH_CLASS_THREAD,
    DH_CLASS_END
};

struct dh_inst_info {
    const char *word, *operands;
    enum dh_inst_class class;
};
const struct dh_inst_info *dh_inst_info(unsigned op);

enum dh_inst_flag {
    DH_INST_VOLATILE = 1 << 0,
    DH_INST_ZEROED = 1 << 1,
    DH_INST_TIMED = 1 << 2,     /* may time out */
    DH_INST_CAST = 1 << 3,      /* COPY from integer to pointer or back, explicit in the source */
    DH_INST_LIBRARY = 1 << 4,   /* of the model of a library function */
    DH_INST_SYNTHETIC = 1 << 5, /* inserted by the front end, no instruction of the program */
    DH_INST_BOUNDED = 1 << 6    /* INDEX: extra is the extent of an array type, a correct program stays inside */
};

enum dh_binary {
    DH_BIN_ADD,
    DH_BIN_SUB,
    DH_BIN_MUL,
    DH_BIN_DIV,
    DH_BIN_REM,
    DH_BIN_SHL,
    DH_BIN_SHR,
    DH_BIN_AND,
    DH_BIN_OR,
    DH_BIN_XOR,
    DH_BIN_XCHG,
    DH_BIN_OTHER
};

enum dh_compare { DH_CMP_EQ, DH_CMP_NE, DH_CMP_LT, DH_CMP_LE, DH_CMP_GT, DH_CMP_GE, DH_CMP_OTHER };

/* Which results of a synchronisation operation mean success. */
enum dh_success { DH_SUCCESS_ZERO, DH_SUCCESS_NOT_ZERO, DH_SUCCESS_ALWAYS };

/* ---- operands ----
 * One word: a register of the function, or a constant of the program. */
typedef uint32_t dh_value;
#define DH_CONSTANT_BIT 0x80000000u
static inline bool dh_is_register(dh_value v)
{
    return v < DH_CONSTANT_BIT;
}

enum dh_constant_kind {
    DH_CONST_DATA,     /* some value that carries no pointer */
    DH_CONST_INT,      /* `number`; 0 is the null pointer, too */
    DH_CONST_GLOBAL,   /* address of global `index` + `number` bytes */
    DH_CONST_FUNCTION, /* address of function `index` */
    DH_CONST_UNKNOWN   /* an unknown pointer: to anything that ever escaped to unknown code */
};

struct dh_constant {
    uint32_t kind, index;
    int64_t number;
};

/* ---- instructions ---- */
struct dh_inst {
    uint8_t op;       /* dh_inst_op */
    uint8_t flags;    /* dh_inst_flag */
    uint8_t order;    /* dh_order; success order of a CAS */
    uint8_t unused;   /* 0 */
    uint32_t result;  /* register or DH_NONE */
    uint32_t operand; /* first one in program.operands */
    uint32_t n_operands;
    uint32_t site;  /* row of the site table or DH_NO_SITE */
    uint32_t place; /* in program.places, 0 = unknown */
    int64_t offset; /* see inst.def for these three */
    uint32_t size;
    uint32_t extra;
};

struct dh_source_location {
    uint32_t file, function, line,
        column;              /* file, function: strings; the function as the source says, inlined ones too */
    uint32_t variable, type; /* strings: of what is accessed, where no site says so */
};

struct dh_basic_block {
    uint32_t function;
    uint32_t inst, n_insts; /* the last one ends it */
    uint32_t succ, n_succs; /* in program.edges */
    uint32_t pred, n_preds; /* in program.edges; set by dh_program_finish */
};

enum dh_register_kind {
    DH_REG_DATA,    /* carries no pointer: narrow integers, floating point */
    DH_REG_WIDE,    /* an integer as wide as a pointer that may carry one: it is stored, passed or cast */
    DH_REG_POINTER, /* also aggregates and vectors of pointers */
};

enum dh_function_flag {
    DH_FUNCTION_EXTERNAL = 1 << 0,      /* has no body here */
    DH_FUNCTION_EXPORTED = 1 << 1,      /* others may call it: not internal to the program */
    DH_FUNCTION_ADDRESS_TAKEN = 1 << 2, /* used other than as a callee */
    DH_FUNCTION_VARIADIC = 1 << 3,      /* the last parameter points to an array of the variable arguments */
    DH_FUNCTION_NO_CHECK = 1 << 4,      /* an attribute excludes its accesses from checking */
    DH_FUNCTION_RETURNS_TWICE = 1 << 5, /* calls setjmp or the like: control flow is incomplete */
    DH_FUNCTION_NO_RETURN = 1 << 6,
    DH_FUNCTION_CONSTRUCTION = 1 << 7 /* C++ constructor or destructor */
};

struct dh_function {
    uint32_t name;   /* string: as linked */
    uint32_t source; /* string: as the source says ("Account::deposit") */
    uint32_t file, line;
    uint32_t site;      /* its own row of the site table, or DH_NO_SITE */
    uint32_t signature; /* equal for functions of equal machine type; 0 = unknown */
    uint32_t flags;     /* dh_function_flag */
    uint32_t n_params;
    uint32_t registers; /* first one in program.registers (their kinds); n_registers of them */
    uint32_t n_registers;
    uint32_t block, n_blocks; /* the first one is the entry; 0 blocks: external */
};

enum dh_global_flag {
    DH_GLOBAL_CONSTANT = 1 << 0, /* never written */
    DH_GLOBAL_TLS = 1 << 1,
    DH_GLOBAL_EXTERNAL = 1 << 2, /* defined elsewhere: unknown contents */
    DH_GLOBAL_EXPORTED = 1 << 3, /* visible to other modules */
    DH_GLOBAL_HIDDEN = 1 << 4,   /* stands for internal state of a library: never reported */
    DH_GLOBAL_VTABLE = 1 << 5,
    DH_GLOBAL_ZERO = 1 << 6 /* initialised with zeros */
};

/* A pointer in a global's initial value, or a number near its beginning. */
struct dh_initial {
    uint32_t offset;
    dh_value value;
};

struct dh_global {
    uint32_t name, source; /* strings, as with functions */
    uint32_t type;         /* string: "struct account", or "" */
    uint32_t file, line;
    uint32_t flags; /* dh_global_flag */
    uint64_t size;  /* 0 = unknown */
    uint32_t initial, n_initials;
};

/* Entry points besides main and `create`. */
enum dh_root_kind {
    DH_ROOT_MAIN,
    DH_ROOT_CONSTRUCTOR,    /* before main, sequentially */
    DH_ROOT_DESTRUCTOR,     /* after main has returned */
    DH_ROOT_EXIT,           /* atexit: after main has returned or exit was called, in the thread that called it */
    DH_ROOT_KEY_DESTRUCTOR, /* at the end of any thread */
    DH_ROOT_SIGNAL_HANDLER, /* at any time, in any thread */
    DH_ROOT_FORK_HANDLER,
    DH_ROOT_EXPORTED, /* called by users of the library, in any number of threads */
    DH_ROOT_TIMER,    /* in a thread of the library */
    DH_ROOT_COUNT
};

struct dh_root {
    uint32_t kind, function;
    uint32_t order; /* constructors, destructors: priority */
};

/* Approximations of the model, counted. */
enum dh_limit {
#define DH_LIMIT(id, text) DH_LIMIT_##id,
#include "model/limit.def"
#undef DH_LIMIT
    DH_LIMIT_COUNT
};
const char *dh_limit_text(enum dh_limit limit);

struct dh_program {
    DH_VEC(struct dh_function) functions;
    DH_VEC(struct dh_basic_block) blocks;
    DH_VEC(struct dh_inst) insts;
    DH_VEC(dh_value) operands;
    DH_VEC(uint32_t) edges;
    DH_VEC(uint8_t) registers; /* dh_register_kind */
    DH_VEC(struct dh_global) globals;
    DH_VEC(struct dh_initial) initials;
    DH_VEC(struct dh_constant) constants;
    DH_VEC(struct dh_root) roots;
    DH_VEC(struct dh_source_location) places; /* 0 = unknown */
    DH_VEC(char) strings;                     /* 0 = "" */
    uint32_t limits[DH_LIMIT_COUNT];
    DH_VEC(uint32_t) foreign;          /* strings: names of unknown functions, each once, sorted when finished */
    struct dh_program_interner *index; /* for building; NULL once finished */
};

void dh_program_init(struct dh_program *p);
void dh_program_release(struct dh_program *p);

/* ---- reading ---- */
static inline const char *dh_program_string(const struct dh_program *p, uint32_t at)
{
    return &p->strings.at[at];
}
static inline const struct dh_constant *dh_program_constant(const struct dh_program *p, dh_value v)
{
    return &p->constants.at[v & ~DH_CONSTANT_BIT];
}
static inline dh_value dh_operand(const struct dh_program *p, const struct dh_inst *i, uint32_t n)
{
    return p->operands.at[i->operand + n];
}
static inline enum dh_inst_class dh_inst_class(const struct dh_inst *i)
{
    return dh_inst_info(i->op)->class;
}
static inline uint32_t dh_inst_function(const struct dh_program *p, uint32_t block)
{
    return p->blocks.at[block].function;
}
static inline const uint32_t *dh_successors(const struct dh_program *p, const struct dh_basic_block *b)
{
    return p->edges.at + b->succ;
}
static inline const uint32_t *dh_predecessors(const struct dh_program *p, const struct dh_basic_block *b)
{
    return p->edges.at + b->pred;
}
/* The integer that a constant is, false for everything else. */
bool dh_value_int(const struct dh_program *p, dh_value v, int64_t *number);
/* The function whose address it is, DH_NONE for everything else. */
uint32_t dh_value_function(const struct dh_program *p, dh_value v);
/* DH_NONE when there is none of that name. */
uint32_t dh_program_find_function(const struct dh_program *p, const char *name);
uint32_t dh_program_find_global(const struct dh_program *p, const char *name);
/* The block of an instruction (binary search). */
uint32_t dh_program_block_of(const struct dh_program *p, uint32_t inst);

/* ---- building ----
 * Functions and globals are declared first, in any order; then bodies, one function after the other, blocks of a
 * function in their order, each ended by an instruction of class END. Blocks are known by their number within the
 * function until finish, also in dh_build_edge; in phis for ever. Unreachable blocks are allowed. */
uint32_t dh_build_string(struct dh_program *p, const char *text);
uint32_t dh_build_function(struct dh_program *p, const struct dh_function *f);
uint32_t dh_build_global(struct dh_program *p, const struct dh_global *g);
void dh_build_initial(struct dh_program *p, uint32_t global, uint32_t offset,
                      dh_value value); /* one global at a time */
dh_value dh_build_constant(struct dh_program *p, enum dh_constant_kind kind, uint32_t index, int64_t number);
dh_value dh_build_int(struct dh_program *p, int64_t number);
uint32_t dh_build_place(struct dh_program *p, const struct dh_source_location *place);
void dh_build_root(struct dh_program *p, enum dh_root_kind kind, uint32_t function, uint32_t order);
void dh_build_limit(struct dh_program *p, enum dh_limit limit);
void dh_build_foreign(struct dh_program *p, const char *name);

void dh_build_body(struct dh_program *p, uint32_t function);
uint32_t dh_build_register(struct dh_program *p, enum dh_register_kind kind);
void dh_build_block(struct dh_program *p);
/* Operands are added to the last instruction. */
struct dh_inst *dh_build_inst(struct dh_program *p, enum dh_inst_op op, uint32_t result);
void dh_build_operand(struct dh_program *p, dh_value v);
/* Adds block number `block` of this function as a successor of the current block. */
void dh_build_edge(struct dh_program *p, uint32_t block);

/* Resolves block numbers of edges to indices of the program and computes predecessors. */
void dh_program_finish(struct dh_program *p);
/* Debug builds: checks the invariants of this header; NULL or the first violation. */
const char *dh_program_verify(const struct dh_program *p);

#endif
