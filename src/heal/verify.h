/* Whether a policy does what it is for: witnesses, and the failing runs that findings are known for, do not fail under
 * it, and a search finds neither what is healed, nor what it led to, nor a deadlock that was not there; or, where none
 * is possible, runs under noise do not fail any more. Layer: cmd; runs this tool itself, on a store of its own. */
#ifndef DH_HEAL_VERIFY_H
#define DH_HEAL_VERIFY_H

#include "finding/finding.h"
#include "host/err.h"

struct dh_heal_verifying {
    const char *policy; /* file */
    const char *budget; /* of each search, as prove reads it */
    char **argv;
    const struct dh_finding *const *findings; /* that it heals */
    size_t n;
    bool complete; /* nothing else that does harm is known of the program: whatever fails comes of these */
    bool hasty;    /* what witnesses refute is not searched */
};

struct dh_heal_refuted {
    char *why;     /* or NULL: it is not */
    bool directly; /* by what is known of it, not only because the program fails */
};

struct dh_heal_verified {
    bool holds;                      /* for all of them */
    unsigned witnesses;              /* replayed, none of which happened */
    char *why;                       /* it holds for none of them, or nothing is known */
    struct dh_heal_refuted *refuted; /* per finding: it does not hold for that one */
    size_t n, n_refuted;
    char *search;    /* the search's last line, or what runs came to */
    bool unsearched; /* the engine cannot explore the program */
};

bool dh_heal_verify(const struct dh_heal_verifying *v, struct dh_heal_verified *out, struct dh_err *err);
void dh_heal_verified_release(struct dh_heal_verified *r);

#endif
