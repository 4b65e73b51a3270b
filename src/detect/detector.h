/* Detectors on the event stream, and the suspicions they report. Layer: detect. One file per detector defines a
 * `const struct dh_detector` and is listed in detectors.def. A detector is called by one thread and uses plain malloc:
 * it works in the tool, on a running program (events arrive through shared memory) or on a recorded trace. */
#ifndef DH_DETECT_DETECTOR_H
#define DH_DETECT_DETECTOR_H

#include "detect/run_state.h"
#include "event/event.h"
#include "event/finding_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_str;

/* One of the operations that a suspicion is about: an access, a lock request, a wait. */
struct dh_suspect {
    uint8_t op;    /* dh_op: READ, WRITE, ATOMIC_*, LOCK, RDLOCK, UNLOCK, COND_WAIT, ... */
    uint8_t flags; /* of the event */
    uint32_t thread, site, ctx;
    uint64_t addr;                    /* of the memory, lock or condition */
    uint64_t size;                    /* bytes accessed; 0 for locks */
    const struct dh_lock_hold *locks; /* held at the time, without the one that is acquired here */
    size_t n_locks;
    const char *note; /* NULL, or a remark for the report: "in the same section of lock a" */
};

struct dh_suspicion {
    enum dh_finding_kind kind;
    enum dh_finding_level level;
    uint64_t addr, size; /* of the bytes, the lock, the condition */
    uint32_t object;     /* number of the object, where it may have ended by now; 0: the one at the address */
    const struct dh_suspect *suspects; /* at most DH_SUSPECTS */
    size_t n_suspects;
    const char *text; /* NULL, or a sentence for the user: the evidence */
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
    unsigned events;     /* dh_event_group: the ones it gets */
    /* NULL with a sentence in *why when the options are not for it. */
    void *(*begin)(struct dh_run_state *w, const struct dh_detector_options *o, const char **why);
    /* The state of the run includes the event already if it acquires or begins, and not yet if it releases or ends. */
    void (*event)(void *self, const struct dh_event *e);
    /* The stream is at its end, or the program was killed: reports what can only be decided now. */
    void (*end)(void *self);
    void (*release)(void *self);
    /* NULL, or whether with these options it finds nothing as long as the prefilter (prefilter.h) does not. */
    bool (*may_defer)(const struct dh_detector_options *o);
    /* NULL, or its statistics: lines "what: figures" for people and scripts. */
    void (*count)(const void *self, struct dh_str *out);
};

/* NULL when there is none of that name. */
const struct dh_detector *dh_detector_find(const char *name, size_t n);
/* The i-th, NULL after the last. */
const struct dh_detector *dh_detector_at(size_t i);

/* Reports a suspicion. The same may be reported repeatedly; they are merged. */
void dh_run_report(struct dh_run_state *w, const struct dh_detector *detector, const struct dh_suspicion *s);

#endif
