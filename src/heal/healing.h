/* The job of 'deadheat heal': findings of the store become a draft, the draft a safe policy, and the policy is
 * verified. Layer: heal. Owns what it holds, borrows the job. Zero-initialise .job's struct; release when done. */
#ifndef DH_HEAL_HEALING_H
#define DH_HEAL_HEALING_H

#include "heal/policy.h"
#include "heal/verify.h"
#include "host/file.h"
#include "image/container.h"

struct dh_heal_job {
    const char *db, *output;
    const char *means;    /* auto, lock or schedule */
    const char *budget;   /* of each search, as the user wrote it */
    uint64_t budget_ns;   /* the same */
    uint64_t schedules;   /* of each search at most; 0: no bound */
    const char *sections; /* file whose sections are healed instead of findings, or NULL */
    char **argv;          /* of the program */
    char *const *ids;     /* beginnings of ids; none: all that matter */
    size_t n_ids;
    void (*progress)(const struct dh_campaign_state *s); /* of searches, or NULL */
};

/* What verifying the policy came to. */
struct dh_heal_outcome {
    DH_VEC(const struct dh_finding *) guarded; /* findings that it heals by more than scheduling */
    struct dh_heal_verified verified;          /* of these */
    double seconds;
};

struct dh_healing {
    const struct dh_heal_job *job;
    char *program, build[33];
    DH_VEC(struct dh_finding *) findings;
    bool others; /* there are more findings that do harm */
    struct dh_container container;
    struct dh_bytes site_bytes, scope_bytes;
    struct dh_site_builder *all_sites;
    struct dh_site_table sites; /* of the program and its libraries */
    struct dh_scope_table scopes;
    bool has_scopes;
    struct dh_draft draft;
    dh_text_vec late; /* ids of findings that are healed by order, since a lock does not put them right */
    struct dh_heal_outcome outcome;
};

/* Reads the program's tables. An error is one of usage. */
bool dh_healing_open(struct dh_healing *h, const struct dh_heal_job *job, struct dh_err *err);
void dh_healing_release(struct dh_healing *h);
/* The draft of a policy for the job's findings or sections. An error is one of usage. */
bool dh_healing_draft(struct dh_healing *h, struct dh_err *err);
/* Chooses safe means and writes the policy, unless no section is left. */
bool dh_healing_write(struct dh_healing *h, struct dh_err *err);
/* Keeps the policy in the store as offered for the findings. */
bool dh_healing_offer(struct dh_healing *h, struct dh_err *err);
/* Verifies the policy for the findings, by other means if it fails, and keeps that in the store: h->outcome. */
bool dh_healing_verify(struct dh_healing *h, struct dh_err *err);
/* Of sections: whether the policy brings about a deadlock. h->outcome. */
bool dh_healing_verify_sections(struct dh_healing *h, struct dh_err *err);

/* All findings are verified. */
bool dh_healing_is_complete(const struct dh_healing *h);
/* A failure, or a race with free: it has no section of its own, others heal it. */
bool dh_healing_comes_along(const struct dh_healing *h, const char *id);
const char *dh_heal_means_name(enum dh_heal_means means);

#endif
