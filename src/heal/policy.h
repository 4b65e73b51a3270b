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
    bool whole;    /* it is the whole activation of a function */
    bool optional; /* it is wider than the accesses need */
    bool spans;    /* its finding's accesses are in callees: without it that is not healed */
};

struct dh_draft_group {
    char *name;
    enum dh_heal_means means;
    char *weaker;   /* why it is not a stronger one, or "" */
    bool by_object; /* there is a lock for each object */
    dh_text_vec variables;
    dh_text_vec findings;  /* ids */
    dh_text_vec functions; /* that the findings have accesses in */
    bool of_views;         /* one of them is an inconsistent view */
    bool of_steps;         /* one of them is no race: steps belong together that the program locks one by one */
    bool is_split;         /* sections end where the program's own critical sections do */
};

/* A finding for which nothing can be done. */
struct dh_draft_rest {
    char *id, *why;
};

struct dh_draft {
    const struct dh_site_table *sites;
    const struct dh_scope_table *scopes; /* or NULL: callers of lock wrappers are not known */
    DH_VEC(struct dh_draft_group) groups;
    DH_VEC(struct dh_draft_section) sections;
    DH_VEC(struct dh_draft_rest) rest;
};

void dh_draft_init(struct dh_draft *d, const struct dh_site_table *sites, const struct dh_scope_table *scopes);
void dh_draft_release(struct dh_draft *d);

/* A race of a read with a write: it may read what is not initialised yet. */
bool dh_draft_may_wait(const struct dh_finding *f);
/* Makes the groups of the findings and their sections. Those that are `late`, by id, are healed by order: a read waits
 * for the first write. */
void dh_draft_make(struct dh_draft *d, const struct dh_finding *const *findings, size_t n, const dh_text_vec *late);
/* Sections as a file has them, in groups of those that have variables in common. */
void dh_draft_sections(struct dh_draft *d, const struct dh_sections *f);
/* Groups for variables that could collide, without findings: those that are written and that a function accesses twice,
 * as many as there may be groups. Answers how many variables are left over. */
unsigned dh_draft_candidates(struct dh_draft *d);
/* Of a group that is entered under locks of the program: the whole function becomes a section, which enters before
 * them. False: it is one already. */
bool dh_draft_hoist(struct dh_draft *d, size_t group, const char *function);
/* Merges the other group into the first; an empty one remains, which is not written. */
void dh_draft_join(struct dh_draft *d, size_t first, size_t other);
/* A wait for the first write that would hold a lock moves to the beginning of its function. False: it is there. */
bool dh_draft_wait_earlier(struct dh_draft *d, size_t group, const char *section);
/* Accesses between which the program waits are not meant to be atomic: the section from one to the other is dropped.
 * False: it is another kind of section. `why` is for a finding that is not healed then. */
bool dh_draft_part(struct dh_draft *d, size_t group, const char *section, const char *why);
/* Drops sections inside of a function that is a section as a whole. The last step. */
void dh_draft_tidy(struct dh_draft *d);
/* Begins anew, with sections that do not go on after critical sections of the program. False: they do not already, or
 * what is healed are steps of which each is one. */
bool dh_draft_split(struct dh_draft *d, size_t group);
/* By another means, and why. */
void dh_draft_weaken(struct dh_draft *d, size_t group, enum dh_heal_means means, const char *why);
/* Nothing is healed for the group any more. */
void dh_draft_drop(struct dh_draft *d, size_t group, const char *why);
size_t dh_draft_find(const struct dh_draft *d, const char *group); /* SIZE_MAX: there is none */

/* The text of the policy, owned by the caller. `program` is for its first line. */
char *dh_draft_print(const struct dh_draft *d, const char *program);

#endif
