/* What memory models allow by their axioms, told from scratch: every run of every thread with every value, every
 * reads-from and every modification order, kept if the axioms hold. Nothing of src/memory is used. */
#ifndef DH_TESTS_MEMORY_ORACLE_H
#define DH_TESTS_MEMORY_ORACLE_H

#include "memory_litmus.h"

enum oracle_axioms {
    ORACLE_SC,  /* acyclic: program order, reads-from, modification order, from-reads */
    ORACLE_TSO, /* x86-TSO: the same without write before read, and coherence (Owens et al. 2009; Alglave et al. 2014)
                 */
    ORACLE_PSO, /* and without write before write */
    ORACLE_RC11 /* Lahav et al., PLDI 2017, with the release sequences of C++20 (P0982) */
};

void oracle_axiomatic(enum oracle_axioms axioms, const struct litmus *l, struct outcomes *out);

/* 004, §4: every schedule, every earlier write that no other lies between by happens-before. */
void oracle_progressive(const struct litmus *l, struct outcomes *out);
/* 004, §3 (HBMM), of plain programs with locks: also writes to come, unless they happen after the read; a write to come
 * must be one of a run that is justified in the same way from runs without. */
void oracle_hbmm(const struct litmus *l, struct outcomes *out);

#endif
