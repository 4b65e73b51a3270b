/* The findings log .dhf, one per process: what the runtime found, in terms of modules, for the tool to name.
 * Layer: event (runtime writes, tool reads). Format: docs/formats/finding-log.md. The writer uses no libc and no memory
 * of its own. The reader works on untrusted bytes; what it answers points into them or is owned by its memory. */
#ifndef DH_EVENT_FINDING_LOG_H
#define DH_EVENT_FINDING_LOG_H

#include "event/finding_level.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_LOG_MAGIC "DHFINDS1"
#define DH_LOG_VERSION 2u
#define DH_LOG_VERSION_OLDEST 1u /* that is still read */
#define DH_LOG_ENDIANNESS 0x01020304u
#define DH_LOG_HEADER_SIZE 16u
#define DH_LOG_RECORD_SIZE 16u         /* of what precedes a record's content */
#define DH_LOG_RECORD_MARK 0x21524844u /* "DHR!" */
#define DH_LOG_RECORD_MOST (1u << 20)  /* longer content is damage */
#define DH_LOG_SUFFIX ".dhf"
#define DH_LOG_NONE UINT32_MAX

enum dh_log_type {
    DH_LOG_PROCESS = 1, /* whose findings follow; again after exec */
    DH_LOG_FINDING = 2,
    DH_LOG_NOTE = 3,    /* a line for the user about the process */
    DH_LOG_REPORTED = 4 /* not in files: ids of findings that this process has reported, for the printer of the next */
};

enum dh_finding_kind {
#define DH_FINDING_KIND(id, name, title, suppressed) DH_FINDING_##id,
#include "event/finding_kind.def"
#undef DH_FINDING_KIND
    DH_FINDING_KIND_COUNT
};

/* What the thread did there; ACCESS: what its flags say. */
enum dh_log_role {
#define DH_FINDING_ROLE(id, op, does, object) DH_ROLE_##id,
#include "event/finding_role.def"
#undef DH_FINDING_ROLE
    DH_ROLE_COUNT
};

enum dh_log_access_flag {
    DH_LOG_WRITE = 1 << 0,
    DH_LOG_ATOMIC = 1 << 1,
    DH_LOG_FREE = 1 << 2,      /* was the freeing of the memory */
    DH_LOG_ALLOC = 1 << 3,     /* was its allocation (calloc's zeroes) */
    DH_LOG_NO_STACK = 1 << 4,  /* too long ago: place, context and locks are unknown */
    DH_LOG_HAS_VALUE = 1 << 5, /* `value` is what was (or is about to be) written */
    DH_LOG_BY_LIBRARY = 1 << 6 /* done by an interposed function; the place is the call's, if there is one */
};

enum dh_log_thread_flag { DH_LOG_FINISHED = 1 << 1, DH_LOG_JOINED = 1 << 2, DH_LOG_FOREIGN = 1 << 5 };

enum dh_log_region {
    DH_LOG_REGION_OTHER,
    DH_LOG_REGION_GLOBAL,
    DH_LOG_REGION_HEAP,
    DH_LOG_REGION_STACK,
    DH_LOG_REGION_TLS,
    DH_LOG_REGION_COUNT
};

#define DH_LOG_ACCESSES 8u
#define DH_LOG_HELD 16u
#define DH_LOG_OUTER 32u

struct dh_log_module {
    const char *path;
    uint8_t id[16]; /* of what `deadheat cc` linked; zeroes when not known */
};

struct dh_log_address {
    uint64_t offset; /* as the module's file has it; absolute without a module */
    uint32_t module; /* or DH_LOG_NONE */
};

/* Return addresses, innermost first. */
struct dh_log_stack {
    const struct dh_log_address *frames;
    uint32_t n_frames;
    uint32_t n_cut; /* frames that were left out before the last DH_LOG_OUTER */
};

struct dh_log_lock {
    uint64_t address;
    struct dh_log_address where; /* in which module's data, if any */
    uint32_t shared;
    uint32_t place, module; /* where it was acquired, as an access has it */
    struct dh_log_stack taken;
};

struct dh_log_access {
    uint32_t thread, flags;
    uint32_t role;          /* dh_log_role */
    uint32_t place, module; /* site or place of that module; both DH_LOG_NONE when there is none */
    uint32_t size;
    uint64_t address, value;     /* of the memory, lock or object; of a join the index of the other thread */
    struct dh_log_address where; /* the address in a module's data, if it is; kept for roles other than ACCESS */
    struct dh_log_stack stack;   /* outside the place */
    const struct dh_log_lock *locks;
    uint32_t n_locks;
    const char *note; /* "" or what is to be said of it */
};

struct dh_log_thread {
    uint32_t index, parent, flags;
    const char *name;
    struct dh_log_stack created;
};

struct dh_log_finding {
    uint32_t kind;  /* dh_finding_kind */
    uint32_t level; /* dh_finding_level */
    uint64_t time;  /* seconds since 1970 */
    const char *detector;
    const char *text; /* "" or one more line for the user: what it rests on */
    const char *key;  /* "" or what tells it from others of the same kind at the same places; no numbers */
    uint64_t address; /* the bytes that both touch */
    uint32_t size;
    uint8_t held[DH_LOG_HELD]; /* what memory held where the first access is, its first bytes */
    uint32_t n_held;
    uint32_t region; /* dh_log_region */
    uint32_t region_thread;
    struct dh_log_address where; /* in which module's data */
    uint64_t block, n_block;     /* on the heap */
    struct dh_log_stack allocated;
    struct dh_log_access access[DH_LOG_ACCESSES];
    uint32_t n_accesses;
    const struct dh_log_thread *threads;
    uint32_t n_threads;
    const struct dh_log_module *modules;
    uint32_t n_modules;
};

struct dh_log_process {
    uint32_t pid;
    uint64_t time;
    const char *path;     /* what runs */
    const char *original; /* the program it stands for, or "" */
    const char *variant;
    uint8_t id[16];
};

/* For any value. */
const char *dh_finding_kind_name(uint32_t kind);
const char *dh_finding_kind_title(uint32_t kind);
const char *dh_finding_level_name(uint32_t level);

struct dh_log_role_words {
    const char *op, *does, *object;
};
const struct dh_log_role_words *dh_log_role_words(uint32_t role);

/* ---- writing ---- */

/* Bytes gathered in the caller's buffer; what does not fit sets `full` and the record is void. */
struct dh_log_out {
    uint8_t *at;
    size_t n, cap;
    bool full;
};
void dh_log_put_header(struct dh_log_out *o);
void dh_log_put_process(struct dh_log_out *o, const struct dh_log_process *p);
void dh_log_put_finding(struct dh_log_out *o, const struct dh_log_finding *f);
void dh_log_put_note(struct dh_log_out *o, const char *text);
void dh_log_put_reported(struct dh_log_out *o, const uint64_t *ids, uint32_t n);
uint32_t dh_log_crc(const uint8_t *bytes, size_t n);

/* ---- reading (tool only) ---- */

struct dh_log_reader {
    const uint8_t *bytes;
    size_t n, at;
    unsigned damaged;     /* stretches that were skipped, a torn end included */
    size_t first_damaged; /* where the first of them begins */
    uint32_t version;
};

struct dh_log_record {
    uint32_t type, version;
    const uint8_t *bytes;
    size_t n;
};

/* False with a sentence part in `why` when it is no log at all. */
bool dh_log_open(struct dh_log_reader *r, const void *bytes, size_t n, const char **why);
/* The next whole record; false at the end. */
bool dh_log_next(struct dh_log_reader *r, struct dh_log_record *out);

struct dh_log_memory {
    struct dh_log_block *blocks;
};
void dh_log_memory_release(struct dh_log_memory *m);
bool dh_log_read_process(const struct dh_log_record *r, struct dh_log_process *p);
/* Whether a finding of that id was reported. */
bool dh_log_has_reported(const struct dh_log_record *r, uint64_t id);
/* NULL when it is none, or damaged. */
const char *dh_log_read_note(const struct dh_log_record *r);
/* DH_ROLE_ACCESS when the word is none of a role. */
uint32_t dh_log_role_of_op(const char *op);
bool dh_log_read_finding(const struct dh_log_record *r, struct dh_log_finding *f, struct dh_log_memory *m);

#endif
