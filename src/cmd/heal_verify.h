/* Whether a policy does what it is for: witnesses do not come to their end under it, and a search finds neither what is
 * healed nor a deadlock that was not there; or, where none is possible, runs under noise do not fail any more. Layer:
 * cmd; runs this tool itself, on a store of its own. */
#ifndef DH_CMD_HEAL_VERIFY_H
#define DH_CMD_HEAL_VERIFY_H

#include "finding/finding.h"
#include "host/err.h"

struct dh_heal_verifying {
    const char *policy; /* file */
    const char *budget; /* of the search, as prove reads it */
    char **argv;
    const struct dh_finding *const *findings; /* that it heals */
    size_t n;
};

struct dh_heal_verified {
    bool holds;
    unsigned witnesses; /* replayed, none of which happened */
    char *why;          /* it does not hold, or nothing is known */
    char *search;       /* the search's last line, or what runs came to */
    bool unsearched;    /* the engine cannot explore the program */
};

bool dh_heal_verify(const struct dh_heal_verifying *v, struct dh_heal_verified *out, struct dh_err *err);
void dh_heal_verified_release(struct dh_heal_verified *r);

#endif
