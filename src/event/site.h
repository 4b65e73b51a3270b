/* Sites: every place of a program that matters, numbered once per link, and the table that carries them.
 * Layer: event (tool and runtime). A table is read-only once built; strings are offsets into its pool, 0 = "".
 * The reader works on untrusted bytes and never reads outside them. */
#ifndef DH_EVENT_SITE_H
#define DH_EVENT_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dh_op {
#define DH_OP(id, name, letters, group) DH_OP_##id,
#include "event/op.def"
#undef DH_OP
    DH_OP_COUNT
};

enum dh_group {
    DH_GROUP_ACCESS,
    DH_GROUP_ATOMIC,
    DH_GROUP_MEMORY,
    DH_GROUP_ALLOC,
    DH_GROUP_FREE,
    DH_GROUP_SYNC,
    DH_GROUP_THREAD,
    DH_GROUP_CALL,
    DH_GROUP_FUNCTION, /* the function itself: what its activations are told by */
    DH_GROUP_COUNT
};

struct dh_op_info {
    const char *name, *letters;
    enum dh_group group;
};

/* Any value of op is answered; unknown ones as DH_OP_NONE. */
const struct dh_op_info *dh_op_info(unsigned op);
const char *dh_group_name(enum dh_group group);

enum dh_site_flag {
    DH_SITE_VOLATILE = 1 << 0,
    DH_SITE_VECTOR = 1 << 1,
    DH_SITE_BITFIELD = 1 << 2,
    DH_SITE_ELEMENT = 1 << 3,    /* an array element, or reached by pointer arithmetic */
    DH_SITE_POINTER = 1 << 4,    /* the value accessed is a pointer */
    DH_SITE_LOCAL = 1 << 5,      /* object is a local variable whose address escaped */
    DH_SITE_GLOBAL = 1 << 6,     /* object is a global or static */
    DH_SITE_TLS = 1 << 7,        /* object is thread-local */
    DH_SITE_ARTIFICIAL = 1 << 8, /* compiler made it (vtable pointer, guard variable): no source name */
    DH_SITE_SIZE_VARIES = 1 << 9 /* size known at run time only */
};

/* C11 order of an atomic, in `order`: LLVM's names, our numbers. */
enum dh_order {
    DH_ORDER_NONE,
    DH_ORDER_RELAXED,
    DH_ORDER_ACQUIRE,
    DH_ORDER_RELEASE,
    DH_ORDER_ACQ_REL,
    DH_ORDER_SEQ_CST
};

static inline bool dh_order_acquires(unsigned order)
{
    return order == DH_ORDER_ACQUIRE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

static inline bool dh_order_releases(unsigned order)
{
    return order == DH_ORDER_RELEASE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

#define DH_NO_CHAIN UINT32_MAX
#define DH_NO_SITE UINT32_MAX

/* One row. All of type string are pool offsets. */
struct dh_site {
    uint32_t file;        /* string: as the debug information names it, prefix maps applied */
    uint32_t function;    /* string: source name ("Account::deposit"), of the innermost function */
    uint32_t line;        /* 0 = unknown */
    uint32_t column;      /* 0 = unknown */
    uint32_t size;        /* bytes accessed; 0 = none or SIZE_VARIES */
    uint32_t type;        /* string: source type of the value ("int", "struct node *") */
    uint32_t variable;    /* string: "counter", "config.limit", "struct account.balance", "table[].key" */
    uint32_t field;       /* string: the member part alone: "balance", "limit", "" */
    uint32_t expr;        /* string: how the source reaches it, as far as known: "acct->balance" */
    uint32_t name;        /* string: stable name "bank.c:deposit:struct account.balance:W#2" */
    uint32_t callee;      /* string: called function, for calls; "" else */
    uint32_t source;      /* string: what a copy reads, named as `variable` names what it writes; "" else */
    uint32_t source_type; /* string: type of that */
    uint32_t inlined;     /* index into chains, or DH_NO_CHAIN */
    uint16_t flags;       /* dh_site_flag */
    uint8_t op;           /* dh_op */
    uint8_t order;        /* dh_order (success order of a compare-exchange) */
};

/* One call through which a place was inlined; `next` is the next outer one. */
struct dh_chain {
    uint32_t file, function, line, column, next;
};

struct dh_site_table {
    const struct dh_site *sites;
    const struct dh_chain *chains;
    const char *strings;
    uint32_t n_sites, n_chains, n_strings; /* n_strings in bytes */
};

/* Always a NUL-terminated string, "" when out of range. */
const char *dh_site_string(const struct dh_site_table *t, uint32_t offset);
/* An array's element itself, not a member of it. */
bool dh_site_is_element(const struct dh_site_table *t, const struct dh_site *s);

/* Points `t` into `bytes` (8-aligned, kept by the caller). On failure `why` gets a constant sentence part
 * such as "site table is cut short". */
bool dh_site_table_read(struct dh_site_table *t, const void *bytes, size_t n, const char **why);

/* ---- building (tool only) ---- */
struct dh_site_builder;
struct dh_site_builder *dh_site_builder_new(void);
void dh_site_builder_free(struct dh_site_builder *b);
/* Interns; "" and NULL give 0. */
uint32_t dh_site_builder_string(struct dh_site_builder *b, const char *text);
/* Adds a row and returns its id; rows are numbered from 0. */
uint32_t dh_site_builder_add(struct dh_site_builder *b, const struct dh_site *site);
/* Adds or finds an equal chain link. */
uint32_t dh_site_builder_chain(struct dh_site_builder *b, const struct dh_chain *link);
/* A view of what was added so far, valid until the next addition. */
struct dh_site_table dh_site_builder_view(const struct dh_site_builder *b);
/* The bytes of the table, owned by the caller; deterministic. */
void *dh_site_builder_write(const struct dh_site_builder *b, size_t *n);

#endif
