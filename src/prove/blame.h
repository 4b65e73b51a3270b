/* Blame: which of several suspicions in a failing schedule its wrong end is due to, by replays in which one of them is
 * removed (delta debugging). Layer: prove. One thread; every replay is a process. */
#ifndef DH_PROVE_BLAME_H
#define DH_PROVE_BLAME_H

#include "finding/finding.h"
#include "prove/subject.h"

/* Owns `now`; borrows the rest of `as`. */
struct dh_blame {
    struct dh_subject *s;
    struct dh_schedule as;
    DH_VEC(struct dh_engine_decision) now; /* a schedule that still fails, with fewer violations */
    int right;                             /* exit status of a correct run */
    uint64_t until_ns;
};

void dh_blame_init(struct dh_blame *c, struct dh_subject *s, const struct dh_schedule *wrong, int right,
                   uint64_t until_ns);
void dh_blame_release(struct dh_blame *c);

/* Does the schedule violate the atomicity of the finding (atomicity, view), and does the program end well when the
 * other thread comes before or after the section instead? If it still fails, that schedule is used for the next
 * finding. False when unknown. */
bool dh_blame_finding(struct dh_blame *c, const struct dh_finding *f);

#endif
