/* The region that the tool shares with a program that runs free under the plan `stale`: what loads are to answer, and
 * what came of it. Layer: event. A file that both map; the tool names it to the program in DEADHEAT_STALE (a path), and
 * every process that the program starts joins. Written by all of their threads at once, read by the tool afterwards. */
#ifndef DH_EVENT_STALE_H
#define DH_EVENT_STALE_H

#include "event/engine.h"

#include <stdatomic.h>

#define DH_STALE_MAGIC 0x31656c6174736864u /* "dhstale1" */

enum {
    DH_STALE_VERSION = 3,
    DH_STALE_LANES = 32, /* of counters: threads that share one disturb each other */
    DH_STALE_SLOTS = 64, /* threads that are told apart unless asked otherwise */
    DH_STALE_SLOTS_MOST = 127,
    DH_STALE_ONLY = 15
};

enum dh_stale_flag {
    DH_STALE_TEAR = 1 << 0, /* words of eight bytes may come in two halves */
    DH_STALE_ALL = 1 << 1   /* every load is served, whatever it costs (for tests) */
};

struct dh_stale_job {
    char heuristic[24];
    uint64_t seed;
    uint32_t fairness; /* 0: the heuristic's own */
    uint32_t slots;    /* 0: DH_STALE_SLOTS */
    uint32_t flags;
    uint32_t n_elements;
    struct dh_engine_element elements[DH_ENGINE_ELEMENTS]; /* watched for as long as anything is */
    uint32_t n_only;
    uint32_t only[DH_STALE_ONLY]; /* places at which loads may be stale, if there are any; elsewhere the newest */
};

/* One lane. */
struct dh_stale_counts {
    _Alignas(64) _Atomic uint64_t loads; /* served */
    _Atomic uint64_t open, stale, stores, passed, syncs;
};

/* The log, for tests: everything that was served and what ordered it. Records of one location, and of one object, are
 * in the order in which it happened; those of one thread, too. */
enum dh_stale_kind {
    DH_STALE_LOG_NONE, /* not written yet */
    DH_STALE_LOG_ACQUIRE,
    DH_STALE_LOG_RELEASE, /* the object carries the thread's past beside what it carried */
    DH_STALE_LOG_CLEAR,   /* it carries nothing any more, nor do those in `value` bytes from here */
    DH_STALE_LOG_READ,    /* a relaxed load: what the object carries waits for an acquire fence */
    DH_STALE_LOG_WRITE,   /* a relaxed store: the object carries what the last release fence published, too */
    DH_STALE_LOG_FENCE_ACQUIRE,
    DH_STALE_LOG_FENCE_RELEASE,
    DH_STALE_LOG_BEGIN, /* a location has no past, and this value */
    DH_STALE_LOG_LOAD,
    DH_STALE_LOG_STORE
};

struct dh_stale_record {
    uint32_t process, thread;
    uint8_t size, unused[3];
    _Atomic uint32_t kind;
    uint64_t object, value; /* address of a location or object */
};

struct dh_stale_control {
    uint64_t magic;
    uint32_t version;
    uint32_t log_room; /* records behind this header */
    struct dh_stale_job job;
    _Atomic uint32_t processes, threads;
    _Atomic uint64_t locations, shared, buffer_most, removed, untold;
    _Atomic uint64_t log_used;
    _Atomic uint32_t n_stale; /* may exceed what is kept */
    uint32_t unused;
    struct dh_engine_stale_read stale[DH_ENGINE_STALE_READS];
    struct dh_stale_counts lanes[DH_STALE_LANES];
    struct dh_stale_record log[];
};

#endif
