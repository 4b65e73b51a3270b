/* What the parts of AtomRace in the checked program share (atomrace*.c). Layer: runtime. A thread's own part is
 * touched by that thread alone, with `busy` set in the hooks: a signal handler leaves it alone. */
#ifndef DH_RUNTIME_ATOMRACE_STATE_H
#define DH_RUNTIME_ATOMRACE_STATE_H

#include "detect/atomrace.h"
#include "detect/atomrace_sections.h"
#include "runtime/report/report.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set once, at the beginning. */
struct dh_atom_ways {
    bool on;         /* the detector was asked for */
    bool collides;   /* accesses are followed at all */
    bool pairs;      /* pairs of accesses are kept: for what came between, or for noise */
    bool pairs_told; /* and what came between is told */
    bool train;      /* whatever lies between */
    bool sections;   /* there are sections to watch */
};
extern struct dh_atom_ways dh_atom_ways;

enum { DH_ATOM_CONTEXTS = 64, DH_ATOM_PIECES = 8, DH_ATOM_LAST = 256, DH_ATOM_ACTIVATIONS = 1024 };

/* The access of a thread before the present one, to the same bytes. */
struct dh_atom_last {
    uintptr_t addr;
    uint32_t size, place, context, spot;
    bool write;
    uint32_t locks; /* held */
    uint64_t activation, passed;
    uint32_t others;         /* other synchronisations so far */
    uint64_t writer, reader; /* what the tables said behind it */
};

/* What a thread keeps, from its first access on. */
struct dh_atom_self {
    struct dh_atom_thread atom; /* first: of the table of threads */
    struct dh_atom_self *next_free;
    uint32_t index; /* of the thread; another's word is looked up by slot */
    /* the access between its events */
    bool open;
    uint32_t n_pieces, place, spot;
    struct dh_atom_piece piece[DH_ATOM_PIECES];
    struct dh_atom_overlapped met;
    struct dh_atom_access access;
    uint32_t in_sections; /* watches of its own, at most */
    uint64_t n_activations, activation[DH_ATOM_ACTIVATIONS];
    struct {
        uint64_t value;
        uint32_t id;
    } context[DH_ATOM_CONTEXTS];
    uint64_t n_slow; /* accesses that did not take the quick way */
    uint32_t burst;  /* so many more will not */
    uint32_t n_passed;
    struct dh_atom_last last[DH_ATOM_LAST];
};

extern __thread struct dh_atom_self *dh_atom_me; /* NULL: it has accessed nothing yet */
extern __thread uint32_t dh_atom_held;           /* locks */
extern __thread uint64_t dh_atom_n_passed;       /* locks taken and given */

/* ---- atomrace_threads.c ---- */

/* NULL: there are too many. */
struct dh_atom_self *dh_atom_become(void);
/* It can be another thread's from now on. */
void dh_atom_give_back(struct dh_atom_self *s);
void dh_atom_threads_forked(void);
/* An access whose end never came: a signal handler interrupted it, or it was left by longjmp. */
void dh_atom_close_window(struct dh_atom_self *s);
uint32_t dh_atom_context_now(struct dh_atom_self *s);
/* 0: not known. */
uintptr_t dh_atom_frame_now(void);
/* A number unlike that of every other activation of the thread; 0: not known. */
uint64_t dh_atom_activation_now(struct dh_atom_self *s);
/* The access that a word of the tables is, if its thread has not forgotten it. */
bool dh_atom_whose(uint64_t word, const struct dh_atom_access *by, struct dh_atom_access *out, uint32_t *thread);

/* ---- atomrace.c ---- */

/* Of a read that met a write, when what both access is to be healed from now on: lets the write happen and begins
 * behind it, so that what the two would have spoiled is not (001 §2). Behind the read it keeps others out until the
 * section is over. */
void dh_atom_keep_apart(void);

/* ---- atomrace_report.c ---- */

extern _Atomic uint32_t dh_atom_n_collisions;
void dh_atom_describe(struct dh_report_access *a, uint32_t thread, const struct dh_atom_access *from);
/* The bytes that both access. */
void dh_atom_overlap(const struct dh_atom_access *a, const struct dh_atom_access *b, struct dh_report *r);
void dh_atom_tell(struct dh_report *r);
/* The access met the one that the word is. */
void dh_atom_collided(const struct dh_atom_access *mine, uint64_t word);

/* ---- atomrace_monitor.c: sections from a file ---- */

extern _Atomic uint32_t dh_atom_n_broken;
/* Reads the file; sets dh_atom_ways.sections. */
void dh_atom_sections_start(void);
void dh_atom_sections_forked(void);
/* The thread is in none any more. */
void dh_atom_sections_leave(struct dh_atom_self *s);
/* Before an access: what ends at the point, and which sections of others it meets. */
void dh_atom_sections_end(struct dh_atom_self *s, uint32_t point, const struct dh_atom_access *a);
void dh_atom_sections_meet(struct dh_atom_self *s, const struct dh_atom_access *a);
/* Behind it: it came between; the thread's own sections have the variable; what begins at the point, if anything. */
void dh_atom_sections_cross(struct dh_atom_self *s, const struct dh_atom_access *a);
void dh_atom_sections_extend(struct dh_atom_self *s, uint32_t variable, const struct dh_atom_access *a);
bool dh_atom_sections_begin(struct dh_atom_self *s, uint32_t point, const struct dh_atom_access *a);

/* ---- atomrace_pairs.c: two accesses of one thread ---- */

void dh_atom_pairs_forked(void);
/* Before the access, with what the table said then. */
void dh_atom_look_back(struct dh_atom_self *s, const struct dh_atom_access *a, uint64_t mine, uint64_t writer);
/* Behind it. */
void dh_atom_remember(struct dh_atom_self *s, const struct dh_atom_access *a, const struct dh_atom_piece *p);

#endif
