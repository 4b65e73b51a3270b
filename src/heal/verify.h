/* Verification of a policy: witnesses and failing runs of the findings are replayed under it and do not fail, and
 * searches find neither the findings, nor failures they led to, nor a new deadlock. Where the engine cannot search the
 * program, runs under noise are compared. Layer: heal. Replays and searches are children, with a store of their own. */
#ifndef DH_HEAL_VERIFY_H
#define DH_HEAL_VERIFY_H

#include "finding/finding.h"
#include "prove/campaign.h"

struct dh_heal_verifying {
    const char *policy; /* file */
    uint64_t budget_ns; /* of each search */
    uint64_t schedules; /* of each search at most; 0: as many as there is time for */
    char **argv;
    const struct dh_finding *const *findings; /* that it heals */
    size_t n;
    const struct dh_finding *const *known; /* of the program without the policy */
    size_t n_known;
    bool complete; /* nothing else that does harm is known of the program: whatever fails comes of these */
    bool hasty;    /* what witnesses refute is not searched */
    /* Called by searches now and then, in a child; NULL: it is not shown. */
    void (*progress)(const struct dh_campaign_state *s);
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
    char *search;    /* summary of the last search, or of the runs under noise */
    bool unsearched; /* the engine cannot search the program */
};

bool dh_heal_verify(const struct dh_heal_verifying *v, struct dh_heal_verified *out, struct dh_err *err);
void dh_heal_verified_release(struct dh_heal_verified *r);

#endif
