/* Metadata of an event stream, which resolve its numbers: modules, contexts, threads, places. Layer: trace. Filled by
 * the reader of the stream (live.c, dht_read.c, import_std.c) before the events that need it; numbers are not trusted.
 */
#ifndef DH_TRACE_META_H
#define DH_TRACE_META_H

#include "base/vec.h"

#include <stdint.h>

struct dh_meta_module {
    char *path;
    uint8_t id[16];       /* of what `deadheat cc` linked; zeroes when it was not */
    uint64_t load;        /* what is added to the file's addresses */
    uint64_t low, high;   /* where it lies */
    uint32_t first_place; /* its places are counted from here; UINT32_MAX: it has none */
};

struct dh_meta_context {
    uint32_t parent; /* lower than its own number; 0 is the empty stack */
    uint64_t return_address;
};

struct dh_meta_thread {
    uint32_t parent; /* UINT32_MAX: not known */
    uint32_t ctx;    /* of its creation */
    char *name;      /* or NULL */
};

/* A place of a stream of another tool, which has no site table. */
struct dh_meta_place {
    uint8_t op; /* dh_op */
    uint32_t line;
    char *file, *function, *variable; /* never NULL */
};

struct dh_meta {
    uint32_t pid;
    uint64_t started;                        /* seconds since 1970 */
    char *program, *original, *variant;      /* as struct dh_log_process has them; NULL: not known */
    DH_VEC(struct dh_meta_module) modules;   /* the executable first */
    DH_VEC(struct dh_meta_context) contexts; /* by number */
    DH_VEC(struct dh_meta_thread) threads;   /* by index */
    DH_VEC(struct dh_meta_place) places;     /* by number; only of imported streams */
};

void dh_meta_release(struct dh_meta *m);

#endif
