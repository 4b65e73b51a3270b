/* Findings of an event stream, told as they come: the sink that commands give to finding/suspicion.h. Layer: cmd. */
#ifndef DH_CMD_TELL_H
#define DH_CMD_TELL_H

#include "base/vec.h"
#include "finding/suppress.h"
#include "finding/suspicion.h"

struct dh_told_later {
    char *id, *text;
};

struct dh_teller {
    struct dh_suppressions suppressions;
    bool quiet;          /* nothing is printed */
    bool waits;          /* suspected races are told at the end: the program may see them itself */
    unsigned suppressed; /* how many were kept quiet */
    DH_VEC(struct dh_told_later) later;
};

/* `suppressions` was checked before (dh_launch_check_suppressions), or is NULL. */
void dh_teller_init(struct dh_teller *t, const char *suppressions, bool quiet);
void dh_teller_release(struct dh_teller *t);
/* Prints reports on standard error, whole. Borrows the teller. */
struct dh_suspicions_sink dh_teller_sink(struct dh_teller *t);
/* At the end: what waited is told, unless the logs at that prefix (or NULL) have it as observed. */
void dh_teller_finish(struct dh_teller *t, const char *log_prefix);

#endif
