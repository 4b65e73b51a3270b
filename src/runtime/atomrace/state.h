/* What the files of AtomRace share: modes, per-thread state, pairs of accesses, atomic sections. Layer: runtime. A
 * thread's state is used by that thread alone, with `busy` set in the hooks, so that a signal handler does not touch
 * it. */
#ifndef DH_RUNTIME_ATOMRACE_STATE_H
#define DH_RUNTIME_ATOMRACE_STATE_H

#include "detect/atomrace.h"
#include "detect/atomrace_sections.h"
#include "runtime/report/report.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set once, at the start. */
struct dh_atom_modes {
    bool on;            /* the detector is on */
    bool collides;      /* collisions are detected */
    bool pairs;         /* pairs of accesses are kept: for interleavings, or for noise */
    bool reports_pairs; /* unserialisable interleavings are reported */
    bool train;         /* training: all interleavings of pairs are logged */
    bool sections;      /* there are atomic sections to monitor */
};
extern struct dh_atom_modes dh_atom_modes;

enum { DH_ATOM_CONTEXTS = 64, DH_ATOM_PIECES = 8, DH_ATOM_LAST_ACCESSES = 256, DH_ATOM_ACTIVATIONS = 1024 };

/* A thread's last access to some bytes, the first of a pair. */
struct dh_atom_last_access {
    uintptr_t addr;
    uint32_t size, place, context, spot;
    bool write;
    uint32_t locks; /* held */
    uint64_t activation, lock_operations;
    uint32_t syncs;          /* other synchronisation operations so far */
    uint64_t writer, reader; /* words of the tables after it */
};

/* State of a thread, from its first access on. */
struct dh_atom_thread_state {
    struct dh_atom_thread atom; /* first: of the table of threads */
    struct dh_atom_thread_state *next_free;
    uint32_t index; /* of the thread, by creation */
    /* the access between its two events */
    bool open;
    uint32_t n_pieces, place, spot;
    struct dh_atom_piece piece[DH_ATOM_PIECES];
    struct dh_atom_overlapped overlapped;
    struct dh_atom_access access;
    uint32_t in_sections; /* nonzero: it may be in sections */
    uint64_t n_activations, activation[DH_ATOM_ACTIVATIONS];
    struct {
        uint64_t value;
        uint32_t id;
    } context[DH_ATOM_CONTEXTS];
    uint64_t n_slow; /* accesses that did not take the fast path */
    uint32_t burst;  /* further accesses that will not */
    uint32_t n_syncs;
    struct dh_atom_last_access last[DH_ATOM_LAST_ACCESSES];
};

extern __thread struct dh_atom_thread_state *dh_atom_current; /* NULL: no access yet */
extern __thread uint32_t dh_atom_held;                        /* number of locks */
extern __thread uint64_t dh_atom_n_lock_operations;           /* acquires and releases of locks */

/* ---- threads.c ---- */

/* NULL: too many threads. */
struct dh_atom_thread_state *dh_atom_thread_init(void);
/* A new thread may get the state from now on. */
void dh_atom_thread_recycle(struct dh_atom_thread_state *s);
void dh_atom_threads_forked(void);
/* Ends an access whose second event never came: a signal handler interrupted it, or longjmp left it. */
void dh_atom_close_window(struct dh_atom_thread_state *s);
uint32_t dh_atom_context_now(struct dh_atom_thread_state *s);
/* 0: unknown. */
uintptr_t dh_atom_frame_now(void);
/* A unique number of the function's activation in the thread; 0: unknown. */
uint64_t dh_atom_activation_now(struct dh_atom_thread_state *s);
/* The access that a word of the tables stands for, if its thread still has it. */
bool dh_atom_find_access(uint64_t word, const struct dh_atom_access *by, struct dh_atom_access *out, uint32_t *thread);

/* ---- atomrace.c ---- */

/* A read collided with a write, and the variable is healed from now on: waits until the write is done and enters the
 * section late, so that the lost update does not happen (001 §2). */
void dh_atom_heal_read(void);

/* ---- report.c ---- */

extern _Atomic uint32_t dh_atom_n_collisions;
void dh_atom_describe(struct dh_report_access *a, uint32_t thread, const struct dh_atom_access *from);
/* Sets the bytes that both access. */
void dh_atom_overlap(const struct dh_atom_access *a, const struct dh_atom_access *b, struct dh_report *r);
void dh_atom_report(struct dh_report *r);
/* The access collided with that of the word. */
void dh_atom_report_collision(const struct dh_atom_access *mine, uint64_t word);

/* ---- sections.c: atomic sections from a file ---- */

extern _Atomic uint32_t dh_atom_n_violations;
/* Reads the file; sets dh_atom_modes.sections. */
void dh_atom_sections_start(void);
void dh_atom_sections_forked(void);
/* The thread leaves all sections. */
void dh_atom_sections_abandon(struct dh_atom_thread_state *s);
/* Before an access: sections that end at the point; those of other threads that the access may interleave. */
void dh_atom_sections_end(struct dh_atom_thread_state *s, uint32_t point, const struct dh_atom_access *a);
void dh_atom_sections_find_overlapped(struct dh_atom_thread_state *s, const struct dh_atom_access *a);
/* After it: records that it interleaved; adds the variable to the thread's sections; sections that begin at the point,
 * false: none. */
void dh_atom_sections_interleave(struct dh_atom_thread_state *s, const struct dh_atom_access *a);
void dh_atom_sections_extend(struct dh_atom_thread_state *s, uint32_t variable, const struct dh_atom_access *a);
bool dh_atom_sections_begin(struct dh_atom_thread_state *s, uint32_t point, const struct dh_atom_access *a);

/* ---- access_pairs.c: two accesses of one thread ---- */

void dh_atom_pairs_forked(void);
/* Before the access, with the word that the table had then. */
void dh_atom_check_pair(struct dh_atom_thread_state *s, const struct dh_atom_access *a, uint64_t mine, uint64_t writer);
/* After it. */
void dh_atom_record_last(struct dh_atom_thread_state *s, const struct dh_atom_access *a, const struct dh_atom_piece *p);

#endif
