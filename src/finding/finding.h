/* A finding in the terms of its reader: names and source places, no addresses that a later run would not have. Layer:
 * finding. Every string is owned by the finding and never NULL; "" stands for what is not known. */
#ifndef DH_FINDING_FINDING_H
#define DH_FINDING_FINDING_H

#include "base/vec.h"
#include "finding/names.h"

#include <stdbool.h>
#include <stdint.h>

#define DH_NO_THREAD UINT32_MAX

struct dh_finding_frame {
    char *function, *file; /* "" when there is no debug information */
    unsigned line, column;
    char *module; /* file that holds the code */
    uint64_t offset;
};

struct dh_finding_stack {
    DH_VEC(struct dh_finding_frame) frames; /* innermost first */
    unsigned n_cut;                         /* frames that nobody kept, before the one at `cut` */
    size_t cut;
};

struct dh_finding_lock {
    char *name; /* "accounts_lock", "struct account.lock", "lock at 0x..." */
    bool shared;
    struct dh_finding_stack taken;
};

struct dh_finding_access {
    char *op;   /* "write", "atomic read", "free", ...; "lock", "wait", ... (event/finding_role.def) */
    char *site; /* stable name, or what stands for it */
    char *variable, *type, *expr;
    char *callee; /* the library function that did it, or "" */
    char *object; /* what is taken, held, waited for or signalled, when it is no access of memory: "accounts_lock" */
    char *note;   /* what is to be said of it, or "" */
    unsigned size;
    uint32_t thread; /* DH_NO_THREAD: not known */
    bool forgotten;  /* too long ago to know more */
    bool wrote;
    bool shrunk; /* fewer bytes than the source says; not stored */
    char *value; /* what was written, or "" */
    struct dh_finding_stack stack;
    DH_VEC(struct dh_finding_lock) locks;
};

struct dh_finding_thread {
    uint32_t index, parent; /* DH_NO_THREAD: not known */
    char *name, *state;     /* "running", "finished" */
    struct dh_finding_stack created;
};

struct dh_finding {
    char *id; /* fingerprint */
    enum dh_finding_kind kind;
    enum dh_finding_level level;
    enum dh_finding_verdict verdict;
    enum dh_finding_healing healing;
    char *detector;
    char *variable, *type;
    char *object;            /* "global 'counter' of size 4 (bank.c:12)" */
    uint64_t offset, extent; /* where in the object what both touch begins, and how large it is; extent 0: not known */
    struct dh_finding_stack allocated;
    uint32_t object_thread; /* that allocated it, or whose stack it is */
    char *held;             /* what memory held there, or "" */
    char *text;             /* one more line, or "": what it rests on */
    char *key;              /* what tells it from others of its kind at the same places, or "" */
    char *witness;          /* path, or "" */
    char *healed;           /* what healing came to, a JSON object (docs/formats/store.md), or "" */
    char *classification;   /* what classifying came to, a JSON object (docs/formats/store.md), or "" */
    DH_VEC(struct dh_finding_access) accesses;
    DH_VEC(struct dh_finding_thread) threads;
    char *program, *build; /* path of the program and id of what was linked */
    unsigned pid;
    long long runs, first_seen, last_seen; /* times in seconds since 1970 */
};

/* Every string "", the rest 0. */
void dh_finding_init(struct dh_finding *f);
void dh_finding_release(struct dh_finding *f);
/* A copy without witness and healing's details; released, then freed by the caller. */
struct dh_finding *dh_finding_copy(const struct dh_finding *f);
void dh_finding_access_init(struct dh_finding_access *a);
void dh_finding_stack_release(struct dh_finding_stack *s);
/* Replaces a string of a finding. */
void dh_finding_set(char **field, const char *text);
const struct dh_finding_thread *dh_finding_thread(const struct dh_finding *f, uint32_t index);

/* Of a header or library of the system, where the user has nothing to change. */
bool dh_finding_is_foreign(const struct dh_finding_frame *f);
/* Whether the access takes a lock or waits for one. */
bool dh_finding_takes_lock(const struct dh_finding_access *a);

/* Sets the id from kind, key and the accesses' stable names in any order: neither lines nor addresses, so that
 * unrelated edits keep it; nor detector and level, so that a suspicion that comes true is one with it. 16 hexadecimal
 * digits. */
void dh_finding_fingerprint(struct dh_finding *f);

#endif
