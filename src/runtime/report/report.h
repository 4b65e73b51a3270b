/* Reports of the detectors in the running process: they become findings, which are printed, logged and counted. Layer:
 * runtime. Everything is copied before dh_report returns. One report at a time: the caller holds no lock of a detector,
 * other threads run on. */
#ifndef DH_RUNTIME_REPORT_REPORT_H
#define DH_RUNTIME_REPORT_REPORT_H

#include "event/finding_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_REPORT_LOCKS 16
#define DH_REPORT_ACCESSES 8 /* at most; more are left out */

struct dh_report_lock {
    uintptr_t address;
    uint32_t context; /* where it was acquired; DH_CONTEXT_ROOT: unknown */
    bool shared;
};

struct dh_report_access {
    uint32_t thread;  /* creation index */
    uint32_t flags;   /* dh_log_access_flag */
    uint32_t role;    /* dh_log_role (event/finding_role.def): DH_ROLE_ACCESS, or acquires, holds, waits, signals */
    uint32_t place;   /* site id or place; UINT32_MAX when there is none */
    uint32_t context; /* outer frames: return addresses from the accessing function's own outwards */
    uintptr_t module; /* an address of the module that `place` belongs to; 0 = the executable */
    uintptr_t addr;   /* of the memory, the lock, the condition; DH_ROLE_JOIN: index of the other thread */
    uint32_t size;    /* bytes accessed; 0 for roles other than ACCESS */
    uint64_t value;
    const char *note; /* NULL, or a remark: "held by thread T2" */
    struct dh_report_lock lock[DH_REPORT_LOCKS];
    uint32_t n_locks;
};

struct dh_report {
    /* USE_AFTER_FREE: the second access is where it was freed. LOCK_MISUSE: one access, the call. ANNOTATION: a promise
     * of the source that the run broke; `text` says which. */
    enum dh_finding_kind kind;
    bool suspected;       /* it did not happen, but may */
    bool log_only;        /* neither printed nor counted: the tool decides after the run */
    const char *detector; /* "race" */
    /* The caller's array, zeroed where unknown. A third of a kilobyte each: threads' stacks may be small. */
    struct dh_report_access *access;
    unsigned n_accesses;
    uintptr_t addr; /* bytes that both access */
    uint32_t size;
    uint8_t held[16]; /* what memory held there at the time, the first bytes */
    uint32_t n_held;
    /* The object around addr, if it is on the heap (n_block bytes, allocated by that thread there) */
    uintptr_t block;
    size_t n_block;
    uint32_t block_thread, block_context;
    const char *text; /* NULL, or one more line for the user: the reason */
    /* NULL, or what distinguishes it from others of the same kind at the same places: names, no numbers or addresses.
     */
    const char *key;
    /* It was the stack, or thread-local storage, of a thread that has ended; 0: see dh_region_of. */
    uint8_t dead;
    uint32_t dead_thread;
};

/* Prints it, appends it to the log, counts it. Equal findings (same kind, same places) are only counted. */
void dh_report(const struct dh_report *r);
/* Whether this process has reported an equal one. Needs only kind, accesses and text. */
bool dh_report_is_known(const struct dh_report *r);
/* For races in loops: whether to search for the other access of one more. The keys are what is known without a search:
 * the place and the other thread; both with the address; both with the time of the other access and the stretch of
 * memory. After the first races of the first two keys, only the 2^n-th are explained until there is a new finding, but
 * every new stretch is, while that does not take more time than the rest. */
bool dh_report_is_worth_explaining(uint64_t pair, uint64_t pair_and_address, uint64_t stretch);
/* How many different findings this process has had; the exit code depends on it. */
uint32_t dh_report_count(void);

/* At the end of the process: waits for reports under way and prints their number. */
/* At the start of the process: one line for the user, into the log if there is one, so that it does not mix with what
 * the program prints. */
void dh_report_note(const char *text);
/* Before the program enters a sandbox (seccomp): from now on no process is started for a report. `false`: entering
 * failed. */
void dh_report_set_sandboxed(bool alone);
/* Then only writing to open descriptors is surely allowed. */
bool dh_report_is_sandboxed(void);

/* Which thread's stack, or thread-local storage, holds the address. */
enum dh_region { DH_REGION_OTHER, DH_REGION_STACK, DH_REGION_TLS };
enum dh_region dh_region_of(uintptr_t addr, uint32_t *thread);

#endif
