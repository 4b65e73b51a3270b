/* Events: what happened in a run, for detectors, online and from traces alike. Layer: event.
 *
 * One stream for the whole process. Synchronisation (every kind that is not of the groups ACCESS and SCOPE) is in the
 * order in which it took effect, given by `seq`; a plain access stands just before the next synchronisation of its own
 * thread, so that any happens-before relation that goes through synchronisation is respected, and nothing else is
 * promised. Between two synchronisations of its thread equal accesses may be recorded once, and neighbours as one:
 * what a thread accesses there is a set. */
#ifndef DH_EVENT_EVENT_H
#define DH_EVENT_EVENT_H

#include <stdint.h>

enum dh_event_kind {
#define DH_EVENT(id, name, group) DH_EVENT_##id,
#include "event/event.def"
#undef DH_EVENT
    DH_EVENT_COUNT
};

enum dh_event_group {
    DH_EVENTS_NOTHING = 0,
    DH_EVENTS_ACCESS = 1 << 0,
    DH_EVENTS_ATOMIC = 1 << 1,
    DH_EVENTS_MEMORY = 1 << 2,
    DH_EVENTS_LOCK = 1 << 3,
    DH_EVENTS_CONDITION = 1 << 4,
    DH_EVENTS_ORDER = 1 << 5,
    DH_EVENTS_WAIT = 1 << 6,
    DH_EVENTS_THREAD = 1 << 7,
    DH_EVENTS_SCOPE = 1 << 8,
    DH_EVENTS_COLLISION = 1 << 9
};

enum dh_event_flag {
    DH_EVENT_SHARED = 1 << 0,     /* a lock acquired for reading */
    DH_EVENT_TRY = 1 << 1,        /* would not have waited */
    DH_EVENT_AGAIN = 1 << 2,      /* recursion: it was held before, or is held still */
    DH_EVENT_WAIT = 1 << 3,       /* released or acquired by a condition wait */
    DH_EVENT_TIMED = 1 << 4,      /* the wait ends by itself, or has */
    DH_EVENT_BY_LIBRARY = 1 << 5, /* done by a library function on behalf of its caller */
    DH_EVENT_FOREIGN = 1 << 6,    /* unlocked by a thread that did not hold it; destroyed while held */
    DH_EVENT_WROTE = 1 << 7       /* of collisions */
};

/* Where an object lies: `flags` of ALLOC and FREE. */
enum dh_event_region { DH_MEMORY_HEAP, DH_MEMORY_MAPPED, DH_MEMORY_STACK, DH_MEMORY_TLS, DH_MEMORY_GLOBAL };

/* What a happens-before edge or a wait goes through. */
enum dh_sync_class {
    DH_SYNC_OTHER,
    DH_SYNC_BARRIER,
    DH_SYNC_SEMAPHORE,
    DH_SYNC_ONCE,
    DH_SYNC_CHANNEL, /* descriptors */
    DH_SYNC_ANNOTATION,
    DH_SYNC_THREAD, /* join */
    DH_SYNC_SIGNAL,
    DH_SYNC_CLASS_COUNT
};

#define DH_NO_PLACE UINT32_MAX

struct dh_event {
    uint8_t kind; /* dh_event_kind */
    uint8_t flags;
    uint16_t reserved;
    uint32_t thread; /* index of creation; 0 is the main thread */
    uint32_t site;   /* place (event/hooks.h) as the whole process numbers it, or DH_NO_PLACE */
    uint32_t ctx;    /* calling context, 0: not known */
    uint64_t addr, arg;
    uint64_t seq; /* 0: none of its own */
};

struct dh_event_info {
    const char *name;
    unsigned group;
};
/* Any value of kind is answered; unknown ones as DH_EVENT_NONE. */
const struct dh_event_info *dh_event_info(unsigned kind);

static inline int dh_event_is_access(const struct dh_event *e)
{
    return e->kind == DH_EVENT_READ || e->kind == DH_EVENT_WRITE;
}

/* Parts of an atomic's arg. */
static inline unsigned dh_event_atomic_op(const struct dh_event *e)
{
    return e->arg & 0xFF;
}
static inline unsigned dh_event_atomic_order(const struct dh_event *e)
{
    return e->arg >> 8 & 0xFF;
}
static inline unsigned dh_event_atomic_size(const struct dh_event *e)
{
    return e->arg >> 16 & 0xFFFF;
}
static inline int dh_event_atomic_wrote(const struct dh_event *e)
{
    return e->arg >> 32 & 1;
}

#endif
