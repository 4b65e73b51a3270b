/* A program under check that does nothing any more: where it waits, and whether it is to be ended. Layer: check. */
#ifndef DH_CHECK_IDLE_PROGRAM_H
#define DH_CHECK_IDLE_PROGRAM_H

#include "check/stage.h"
#include "host/idle.h"

/* Zero-initialise. */
struct dh_idle_program {
    struct dh_idle idle;
    uint64_t looked_ns;
    uint64_t outside_ns, time_ns; /* when it last waited for more than times, and for more than itself */
    bool reported, works;         /* what was said of it: where it waits, or works */
};

/* Where its threads are, for a program that is ended because time is over. */
void dh_idle_program_where(struct dh_stage_state *t, pid_t stage);
/* One look at the offspring of the stage; rare enough to cost nothing. True: it waits, for nothing that comes from
 * outside, and has done so for too long. */
bool dh_idle_program_look(struct dh_idle_program *p, const struct dh_stage *s, struct dh_stage_state *t, pid_t stage,
                          uint64_t so_far_ns);

#endif
