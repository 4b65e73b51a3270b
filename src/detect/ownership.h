/* Ownership of objects (003 §7.1): which object an address belongs to, and which thread owns it. Layer: detect. An
 * object is an allocation or a global variable; where none is known, eight bytes; a stack or thread-local memory is one
 * object until another thread accesses it, then eight bytes each. Cached by address over run_state.h; an object lives
 * until its memory is forgotten. Not thread-safe. */
#ifndef DH_DETECT_OWNERSHIP_H
#define DH_DETECT_OWNERSHIP_H

#include "detect/granule_map.h"
#include "detect/run_state.h"

struct dh_owned_object {
    uint64_t at, size;
    uint32_t number; /* of the object in run_state.h, 0: none */
    uint32_t owner;  /* the thread that allocated it, of globals the main thread; of others the first to access it */
    uint32_t refs;   /* granules that name it */
    bool shared;     /* another thread than the owner accessed it */
    bool local;      /* on a stack, or thread-local */
    uint8_t reached; /* of the detector, 0 at first */
    void *state;     /* likewise, NULL at first */
    uint32_t id;
};

struct dh_ownership;
/* `drop` is called for objects that end, to free their state. */
struct dh_ownership *dh_ownership_new(struct dh_run_state *w, void (*drop)(void *arg, struct dh_owned_object *o),
                                      void *arg);
void dh_ownership_free(struct dh_ownership *s);
/* The object of an address that `thread` accesses; it becomes shared if that is not its owner. */
struct dh_owned_object *dh_ownership_access(struct dh_ownership *s, uint64_t addr, uint32_t thread);
/* A quick test: is it cached that the object is the thread's own, and not shared? */
bool dh_ownership_is_own(const struct dh_ownership *s, uint64_t addr, uint32_t thread, bool *local);
void dh_ownership_forget(struct dh_ownership *s, uint64_t addr, uint64_t size);

#endif
