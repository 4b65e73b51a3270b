/* Before any search: does the program come to the same end in the engine, undisturbed, as it does by itself? Layer:
 * prove. Compared are exit status, output (lines in any order) and whether threads were created. */
#ifndef DH_PROVE_BASELINE_H
#define DH_PROVE_BASELINE_H

#include "prove/subject.h"

enum dh_hosting {
    DH_HOSTING_UNKNOWN,    /* not asked */
    DH_HOSTING_RIGHT,      /* both come to the same */
    DH_HOSTING_DOUBTFUL,   /* a search may show something, but an empty one shows nothing: see `why` */
    DH_HOSTING_WRONG,      /* the engine cannot run it, or it comes to something else there: see `why` */
    DH_HOSTING_NO_THREADS, /* it created none, natively either */
    DH_HOSTINGS
};
extern const char *const dh_hosting_names[DH_HOSTINGS];

enum { DH_HOSTING_WORDS = 400 };

/* Plain data: may lie in memory that processes share. */
struct dh_hosting_check {
    enum dh_hosting verdict;
    char why[DH_HOSTING_WORDS];  /* one line: the difference and where; "" if it is right */
    char note[DH_HOSTING_WORDS]; /* what was not compared, or "" */
    int native_status;           /* as of waitpid */
    bool ran_natively, native_in_time, is_counted;
    uint32_t native_threads, native_others, threads; /* created: natively, there by children, in the engine */
    uint64_t native_ns, engine_ns;                   /* of the first run */
    uint64_t accesses;                               /* in the engine */
};

/* A run of either kind may take `patience_ns`. False when no process could be started. */
bool dh_hosting_check(struct dh_subject *s, uint64_t patience_ns, struct dh_hosting_check *out, struct dh_err *err);
/* A part of the budget, within bounds. */
uint64_t dh_hosting_patience(uint64_t budget_ns);
/* An object of JSON. Owned by the caller. */
/* What a search must have at least to come to a few schedules of a program whose own run is long; 0: any time will do.
 */
uint64_t dh_hosting_least_ns(const struct dh_hosting_check *h);
char *dh_hosting_json(const struct dh_hosting_check *h);

#endif
