/* What the recorder keeps for each thread, and for the process. Layer: runtime; between the files of the recorder.
 * A state is touched by its thread alone. */
#ifndef DH_RUNTIME_RECORD_STATE_H
#define DH_RUNTIME_RECORD_STATE_H

#include "event/stream.h"
#include "runtime/core/context.h"
#include "runtime/record/record.h"
#include "runtime/sync/held_locks.h"
#include "runtime/sync/known_atomics.h"
#include "runtime/sync/sync.h"

enum { DH_RECORD_LANES = 3, DH_RECORD_ROOM = 16, DH_RECORD_CONTEXTS = 1 << 12 };

struct dh_record_bucket;

struct dh_record_lane {
    uintptr_t busy; /* frame of the writer, 0: none */
    struct dh_stream_lane *shared;
    struct dh_stream_block *block; /* NULL: there is none to be had */
    uint32_t number, at;
    uint32_t context;                /* said last */
    uint32_t numbering;              /* at + 1 of an event whose number is being taken, 0: none */
    uint64_t published;              /* words in all blocks before this one */
    struct dh_record_bucket *bucket; /* being locked, or locked, by the writer */
};

struct dh_record_state {
    struct dh_record_lane lanes[DH_RECORD_LANES];
    struct dh_thread_state *tls;
    uint32_t index;
    uint8_t ignores; /* 1 << dh_ignored */
    uint32_t ignoring[DH_IGNORED_KINDS];
    uint64_t stamp;       /* of the segment, in the words of `recorded` */
    uint64_t small_stamp; /* of the last that is in `small` */
    uint64_t alive[2 * DH_STREAM_RUNS / 64];
    /* The call that is being recorded: its place is announced once, its events may be several. */
    const uintptr_t *call_slot;
    uintptr_t call_address;
    uint32_t call_place;
    enum dh_event_kind last_kind;
    uint32_t n_held, n_unlisted;
    struct dh_held_lock held[DH_HELD_LOCKS];
    struct dh_record_state *next;
    struct dh_known_context contexts[DH_RECORD_CONTEXTS];
    struct dh_known_atomic atomics[DH_KNOWN_ATOMICS];
    struct dh_recorded_small small[DH_RECORDED_SMALL];
    uint64_t recorded[2][DH_RECORDED_LINES]; /* accessed, written */
};

/* ---- record_file.c ---- */

extern struct dh_stream_header *dh_stream;

/* Makes the file of this process; false: there is none, and why was said. */
bool dh_stream_open(void);
/* In a forked child: the parent's is let go. */
void dh_stream_drop(void);
/* Recording ends in this process, for good. */
void dh_stream_stop(void);
struct dh_stream_lane *dh_stream_lane_new(uint32_t *number);
/* A block for the lane; waits for the reader. NULL: recording has ended. */
struct dh_stream_block *dh_stream_block_new(struct dh_stream_lane *lane);
/* The context is known to the reader. */
void dh_stream_context(uint32_t id);
void dh_stream_thread(uint32_t index, uint32_t parent, uint32_t context, const char *name);

/* ---- record.c ---- */

/* Into the recorder and out; NULL: not now. Handlers that interrupt it get a lane of their own. */
struct dh_record_lane *dh_record_enter(struct dh_record_state *s);
static inline void dh_record_leave(struct dh_record_lane *l)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    l->busy = 0;
}
/* Room for DH_RECORD_ROOM words; may wait. */
bool dh_record_room(struct dh_record_state *s, struct dh_record_lane *l);
static inline void dh_record_put(struct dh_record_lane *l, const uint64_t *words, uint32_t n)
{
    uint64_t *to = l->block->words + l->at;
    for (uint32_t i = 0; i < n; i++)
        to[i] = words[i];
    __atomic_signal_fence(__ATOMIC_RELEASE);
    l->at += n;
    atomic_store_explicit(&l->block->used, l->at, memory_order_release);
}
/* What follows in the lane happens there. */
void dh_record_context(struct dh_record_lane *l, uint32_t context);
uint32_t dh_record_here(struct dh_record_state *s);
uint32_t dh_record_call_context(struct dh_record_state *s, const uintptr_t *call_slot);
/* Before an event of a handler: what the interrupted lane has said comes first. */
void dh_record_after(struct dh_record_state *s, struct dh_record_lane *l);
/* In a lane with room for it. */
void dh_record_put_event(struct dh_record_lane *l, const struct dh_event *e);
/* What was recorded before must be recorded again. */
void dh_record_new_segment(struct dh_record_state *s);

/* ---- record_atomic.c ---- */

/* What a handler that left by longjmp has interrupted will not unlock it. */
void dh_record_unlock_left(struct dh_record_state *s, struct dh_record_lane *l);

/* ---- record_access.c ---- */

/* Open runs are written; they go on empty. */
void dh_record_say_runs(struct dh_record_state *s, struct dh_record_lane *l);
/* The range holds another object now. */
void dh_record_forget(struct dh_record_state *s, uintptr_t addr, size_t size);

#endif
