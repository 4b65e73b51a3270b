/* Minimising a failing run: fewer stale reads, delayed stores and context switches (delta debugging), as a schedule
 * that replays with kernel threads. Layer: classify. */
#ifndef DH_CLASSIFY_MINIMISE_H
#define DH_CLASSIFY_MINIMISE_H

#include "prove/subject.h"

struct dh_failing_run {
    struct dh_engine_decision *decisions; /* owned */
    struct dh_engine_value *values;       /* of each, or NULL; owned */
    struct dh_engine_foreseen *foreseen;  /* future writes that they name; owned */
    struct dh_schedule schedule;          /* of those; borrows the rest */
    struct dh_engine_found *end;          /* of the replay; owned */
    struct dh_str output;                 /* of the replay, standard error included */
    uint32_t stale_before;                /* stale reads when it was found */
    uint32_t steps_before;
};

/* `found` is an end that a search found, `as` its schedule without decisions. False: it does not replay. */
bool dh_minimise_failure(struct dh_subject *s, const struct dh_engine_found *found, const struct dh_schedule *as,
                         uint64_t patience_ns, struct dh_failing_run *out, struct dh_err *err);
void dh_failing_run_release(struct dh_failing_run *r);

/* Is the decision a stale read? */
bool dh_decision_is_stale(const struct dh_engine_decision *d, const uint8_t *marks);

#endif
