/* Whose fault a wrong end is: of several suspicions that one schedule shows, those without which it would have ended
 * well. Layer: prove. One thread; every question is a process. */
#ifndef DH_PROVE_BLAME_H
#define DH_PROVE_BLAME_H

#include "finding/finding.h"
#include "prove/subject.h"

/* Owns its decisions. `as` is borrowed. */
struct dh_blame {
    struct dh_subject *s;
    struct dh_schedule as;
    DH_VEC(struct dh_engine_decision) now; /* a schedule that still ends wrongly, in which less and less is broken */
    int right;                             /* exit status of who ends well */
    uint64_t until_ns;
};

void dh_blame_init(struct dh_blame *c, struct dh_subject *s, const struct dh_schedule *wrong, int right,
                   uint64_t until_ns);
void dh_blame_release(struct dh_blame *c);

/* Does another thread come into the middle of what the finding (atomicity, view) says belongs together, and does the
 * program end well when it comes before or behind instead? If it still ends wrongly, that schedule is gone on with for
 * the next one that is asked about. What cannot be told is no. */
bool dh_blame_finding(struct dh_blame *c, const struct dh_finding *f);

#endif
