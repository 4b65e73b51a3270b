/* A detector that watches the event stream, and what it says. Layer: detect. One file per detector defines a
 * `const struct dh_detector` and is listed in detectors.def. A detector is fed by one thread and uses plain malloc: it
 * works in the tool, on a program that runs (its events arrive through shared memory) or on a recorded trace. */
#ifndef DH_DETECT_DETECTOR_H
#define DH_DETECT_DETECTOR_H

#include "detect/run_state.h"
#include "event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_str;

enum dh_suspicion_kind {
    DH_SUSPECT_RACE,
    DH_SUSPECT_VIEW,
    DH_SUSPECT_ATOMICITY,
    DH_SUSPECT_DEADLOCK,
    DH_SUSPECT_CRITICAL_WAIT,
    DH_SUSPECT_INDEFINITE_WAIT,
    DH_SUSPECT_LOST_WAKEUP,
    DH_SUSPECT_LOCK_MISUSE,
    DH_SUSPECT_KIND_COUNT
};

enum dh_suspicion_level { DH_LEVEL_SUSPECTED, DH_LEVEL_OBSERVED };

/* One of the things that are in each other's way: an access, a lock taken, a wait. */
struct dh_suspect {
    uint8_t op;    /* dh_op: READ, WRITE, ATOMIC_*, LOCK, RDLOCK, UNLOCK, COND_WAIT, ... */
    uint8_t flags; /* of the event */
    uint32_t thread, site, ctx;
    uint64_t addr;                    /* of what is accessed, taken or waited for */
    uint64_t size;                    /* bytes accessed; 0 for locks */
    const struct dh_lock_hold *locks; /* held at the time, without what is taken here */
    size_t n_locks;
    const char *note; /* NULL, or what is to be said of it: "in the same section of lock a" */
};

struct dh_suspicion {
    enum dh_suspicion_kind kind;
    enum dh_suspicion_level level;
    uint64_t addr, size;               /* what it is about: the bytes, the lock, the condition */
    uint32_t object;                   /* its number, where that may have ended by now; 0: the one that is there */
    const struct dh_suspect *suspects; /* at most DH_SUSPECTS */
    size_t n_suspects;
    const char *text; /* NULL, or a sentence for the user: what it rests on */
    /* What makes two suspicions the same, besides kind and the sites of the suspects; NULL: these alone. Stable under
     * rebuilding: names, no numbers. */
    const char *key;
};

enum { DH_SUSPECTS = 8 };

struct dh_detector_options {
    /* The value of --KEY of the command, NULL when it was not given. */
    const char *(*get)(void *arg, const char *key);
    void *arg;
};

struct dh_detector {
    const char *name;    /* as --detect lists it */
    const char *summary; /* for --help */
    unsigned events;     /* dh_event_group: what it wants; the rest it never gets */
    /* NULL with a sentence in *why when the options are not for it. */
    void *(*begin)(struct dh_run_state *w, const struct dh_detector_options *o, const char **why);
    /* The world has seen the event already when it takes or begins something, and not yet when it gives or ends. */
    void (*event)(void *self, const struct dh_event *e);
    /* The stream is at its end, by itself or because the program was killed: what is left to say. */
    void (*end)(void *self);
    void (*release)(void *self);
    /* NULL, or whether with these options it has nothing to say as long as the screen (screen.h) is quiet. */
    bool (*may_wait)(const struct dh_detector_options *o);
    /* NULL, or what it counted so far: lines "what: figures" for people and scripts. */
    void (*count)(const void *self, struct dh_str *out);
};

/* NULL when there is none of that name. */
const struct dh_detector *dh_detector_find(const char *name, size_t n);
/* The i-th, NULL behind the last. */
const struct dh_detector *dh_detector_at(size_t i);

/* A detector says something. Repeated calls for the same thing are allowed; they are merged. */
void dh_run_report(struct dh_run_state *w, const struct dh_detector *who, const struct dh_suspicion *s);

#endif
