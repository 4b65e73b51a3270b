/* Static race detection: pairs of conflicting accesses that nothing orders (003 §4.4). Layer: analysis.
 * Every argument that rules out a pair has a name (arguments.def). Proofs make a pair safe; heuristics (barriers,
 * ownership transfer) only keep it out of reports: its accesses are still checked in runs. */
#ifndef DH_ANALYSIS_RACES_H
#define DH_ANALYSIS_RACES_H

#include "analysis/symex.h"

enum dh_argument {
#define DH_ARGUMENT(id, proof, text) DH_ARGUMENT_##id,
#include "analysis/arguments.def"
#undef DH_ARGUMENT
    DH_ARGUMENT_COUNT
};
/* What it says when it holds, in plain words. */
const char *dh_argument_text(enum dh_argument a);
/* As arguments.def explains them. */
enum dh_argument_kind { DH_ARGUMENT_IS_PROOF, DH_ARGUMENT_IS_INSTANCE, DH_ARGUMENT_IS_HEURISTIC };
enum dh_argument_kind dh_argument_kind(enum dh_argument a);

/* 003 §4.5. */
enum dh_conflict_class {
    DH_CONFLICT_NO_READ,
    DH_CONFLICT_LOCK_NOT_UNIQUE,
    DH_CONFLICT_ALL_WRITES_LOCKED,
    DH_CONFLICT_OTHER
};
const char *dh_conflict_class_name(enum dh_conflict_class c);

struct dh_conflict {
    uint32_t first, second; /* events */
    uint32_t node;
    int32_t offset;
    enum dh_conflict_class class;
    uint32_t cause; /* the conflict that lets the object escape unordered, DH_NONE */
};

struct dh_conflicts {
    struct dh_symex *symex;
    DH_VEC(struct dh_conflict) found;
    uint8_t *unsafe; /* by event: takes part in a conflict or in a pair that only a heuristic rules out */
    uint64_t pairs;  /* compared */
    uint64_t by_argument[DH_ARGUMENT_COUNT]; /* pairs that each has ruled out */
    uint32_t max_pairs;                      /* of instructions, reported for one object */
    uint64_t trusted;                        /* arguments that make a pair safe, as bits; at first all but heuristics */
    bool sequential; /* 003 §4.3: writes before an escape are visible to all, even if the escape is a race */
    bool strict;     /* whatever is not proven safe, or is a relaxed atomic, lets objects escape unordered */
    uint32_t n_objects, n_objects_left; /* with accesses; not compared when the time limit was over */
};

void dh_conflicts_init(struct dh_conflicts *c, struct dh_symex *w);
void dh_conflicts_run(struct dh_conflicts *c);
void dh_conflicts_release(struct dh_conflicts *c);
/* The argument that holds for two events, DH_ARGUMENT_COUNT when none does. `weak`: of an object that
 * escaped unordered, freshness proves nothing. */
enum dh_argument dh_conflicts_argue(struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b,
                                    bool weak);
/* Of one object: whether they may access the same bytes. */
bool dh_events_may_overlap(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b);

#endif
