/* Runs abstract programs step by step under a random schedule and finds the races of that run the naive way: all pairs
 * of accesses to one place, ordered by vector clocks or not. For tests of static analyses. */
#ifndef DH_TEST_ANALYSIS_MACHINE_H
#define DH_TEST_ANALYSIS_MACHINE_H

#include "analysis_programs.h"
#include "model/program.h"

struct machine_race {
    uint32_t first, second; /* instructions */
};

struct machine {
    DH_VEC(struct machine_race) races;
    bool stuck; /* a deadlock, or more steps than any such program takes */
};

void machine_run(struct machine *m, const struct dh_program *p, struct chance *c);
void machine_release(struct machine *m);

#endif
