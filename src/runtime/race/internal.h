/* What the files of the race detector share: happens-before edges, heap blocks, freed memory, thread states. Layer:
 * runtime. All but start and forked: inside enter/leave.
 */
#ifndef DH_RUNTIME_RACE_INTERNAL_H
#define DH_RUNTIME_RACE_INTERNAL_H

#include "runtime/core/instrumented_modules.h"
#include "runtime/race/race_state.h"
#include "runtime/race/sync_table.h"

/* The thread acquires the clock; releases to it, replacing or joining what it held. */
void dh_race_edge_acquire(struct dh_race_state *s, const struct dh_sync_clock *c);
void dh_race_edge_release(struct dh_race_state *s, struct dh_sync_clock **c);
void dh_race_edge_release_join(struct dh_race_state *s, struct dh_sync_clock **c);

/* Forgets the clock of a synchronisation object; cells and objects of a range. Outside enter/leave. */
void dh_race_forget_object(const void *object);
void dh_race_forget_memory(const void *at, size_t size);

/* The context of a call: the shadow stack and the return address in *call_slot (NULL: the stack alone). */
uint32_t dh_race_call_context(struct dh_race_state *s, const uintptr_t *call_slot);

/* The main thread becomes the detector's first. */
void dh_race_start_main(void);
void dh_race_tables_forked(void);
/* False: the child runs without the detector. */
bool dh_race_shadow_forked(void);

/* A state for a fiber that does not run yet, which inherits the caller's clock; the end of a state that no thread runs.
 */
struct dh_race_state *dh_race_state_parked(struct dh_thread_state *tls);
void dh_race_state_end(struct dh_race_state *s);
/* fibers.c, in a forked child: parked fibers have lost their slots. */
void dh_fibers_forked(void);

/* annotations.c: the source declares races there benign. Inside enter/leave. */
bool dh_race_is_benign(uintptr_t addr, size_t size);

/* heap_blocks.c: the heap block that contains an address. */
struct dh_heap_block {
    uintptr_t at;
    size_t size;
    uint32_t thread, context;
};
bool dh_heap_block_around(uintptr_t addr, struct dh_heap_block *out);
struct dh_report;
void dh_report_set_block(struct dh_report *r, const struct dh_heap_block *block);
/* Memory that was freed: `number` is the clock of an epoch of DH_SLOT_FREED. */
struct dh_freed_block {
    struct dh_heap_block block;
    uint32_t thread, context;
    bool transferred; /* ownership given up by an annotation, not freed */
    uint8_t dead;     /* dh_region of `thread`, which has ended; 0: a heap block */
};
bool dh_freed_block_get(uint32_t number, struct dh_freed_block *out);
uint32_t dh_freed_block_add(const struct dh_freed_block *f);

/* dead_stacks.c. Marks stack and thread-local variables of the calling thread, which ends; removes the marks once it is
 * joined and a stack that the program allocated belongs to the program again. */
struct dh_thread;
void dh_dead_stack_mark(struct dh_race_state *s);
void dh_dead_stack_unmark(const struct dh_thread *t);
/* The memory of a dead stack is in use again: its mark is out of date. */
bool dh_dead_stack_is_reused(uintptr_t addr);
bool dh_heap_blocks_init(void);
void dh_heap_blocks_forked(void);

#endif
