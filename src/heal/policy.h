/* From findings to a policy: which sections, in which groups, by which means. Layer: heal. A draft owns its strings and
 * borrows the tables. What is written is text for people to review (docs/healing.md). */
#ifndef DH_HEAL_POLICY_H
#define DH_HEAL_POLICY_H

#include "base/str.h"
#include "base/vec.h"
#include "event/scope_table.h"
#include "event/sections.h"
#include "event/site.h"
#include "finding/finding.h"

typedef DH_VEC(char *) dh_text_vec;

struct dh_draft_section {
    char *name, *entry, *why, *because;
    dh_text_vec ends, exits;
    uint64_t reads_pass; /* a bit for each end: others may read meanwhile */
    size_t group;
    bool whole;    /* the activation of a function */
    bool optional; /* it reaches further than the accesses ask for */
    bool spans;    /* it has its finding's accesses in functions that it calls: without it that is not healed */
};

struct dh_draft_group {
    char *name;
    enum dh_heal_means means;
    char *weaker;   /* why it is not a stronger one, or "" */
    bool by_object; /* there is a lock for each object */
    dh_text_vec variables;
    dh_text_vec findings;  /* ids */
    dh_text_vec functions; /* in which they say that something happened */
    bool of_views;         /* one of them is an inconsistent view */
};

/* A finding for which nothing can be done. */
struct dh_draft_rest {
    char *id, *why;
};

struct dh_draft {
    const struct dh_site_table *sites;
    const struct dh_scope_table *scopes; /* or NULL: nothing is known of who calls what takes locks */
    DH_VEC(struct dh_draft_group) groups;
    DH_VEC(struct dh_draft_section) sections;
    DH_VEC(struct dh_draft_rest) rest;
};

void dh_draft_init(struct dh_draft *d, const struct dh_site_table *sites, const struct dh_scope_table *scopes);
void dh_draft_release(struct dh_draft *d);

/* A race of a read with a write: what it reads may not have been filled in yet. */
bool dh_draft_may_wait(const struct dh_finding *f);
/* Makes the groups that the findings ask for and their sections. Those that are `late`, by id, are healed by order: who
 * reads waits until it was written. */
void dh_draft_make(struct dh_draft *d, const struct dh_finding *const *findings, size_t n, const dh_text_vec *late);
/* Sections as a file has them, in groups of those that have variables in common. */
void dh_draft_sections(struct dh_draft *d, const struct dh_sections *f);
/* Groups for what threads could meet in, with no finding yet: variables that some function accesses twice and that are
 * written, as many as there may be groups. Answers how many variables were left. */
unsigned dh_draft_candidates(struct dh_draft *d);
/* Of a group that is entered under locks of the program: the function, as a whole, enters it before. False: it does
 * already. */
bool dh_draft_hoist(struct dh_draft *d, size_t group, const char *function);
/* What is the other's becomes the first one's; an empty group stays behind, of which nothing is written. */
void dh_draft_join(struct dh_draft *d, size_t first, size_t other);
/* Who would wait for a first write with a lock held waits where its function begins. False: it does already. */
bool dh_draft_wait_earlier(struct dh_draft *d, size_t group, const char *section);
/* Accesses between which the program waits are not meant to happen at once: the section from one to the other goes.
 * False: it is another kind of section. `why` is for a finding that is not healed then. */
bool dh_draft_part(struct dh_draft *d, size_t group, const char *section, const char *why);
/* Sections inside of a function that is one as a whole go. When all else is settled. */
void dh_draft_tidy(struct dh_draft *d);
/* By another means, and why. */
void dh_draft_weaken(struct dh_draft *d, size_t group, enum dh_heal_means means, const char *why);
/* Nothing is healed for the group any more. */
void dh_draft_drop(struct dh_draft *d, size_t group, const char *why);
size_t dh_draft_find(const struct dh_draft *d, const char *group); /* SIZE_MAX: there is none */

/* The text of the policy, owned by the caller. `program` is for its first line. */
char *dh_draft_print(const struct dh_draft *d, const char *program);

#endif
