/* Racy variables and the places that access them. Layer: classify. A variable is a global, or a member of a struct in
 * all its instances; one without a name is known by its places. */
#ifndef DH_CLASSIFY_RACY_VARIABLES_H
#define DH_CLASSIFY_RACY_VARIABLES_H

#include "base/str.h"
#include "base/vec.h"
#include "finding/finding.h"
#include "prove/subject.h"

/* Places of two accesses that race. */
struct dh_racy_pair {
    uint32_t place[2];
};

struct dh_racy_variable {
    char *name, *type;
    uint8_t *marks;         /* a byte per place: enum dh_engine_adversary */
    unsigned loads, stores; /* places */
    bool tears;             /* some of its words may be torn */
    char *also;             /* other names of its accesses that runs revealed: "row[], above[]"; "" */
    DH_VEC(struct dh_racy_pair) pairs;
    DH_VEC(struct dh_racy_element) elements;         /* of arrays: with an observed race, or named by the user */
    DH_VEC(char *) sites;                            /* of libraries only: names of sites, for free runs */
    DH_VEC(const struct dh_finding *) findings;      /* borrowed; none if the user named it */
    DH_VEC(const struct dh_racy_variable *) members; /* of a group (variable_groups.h); borrowed */
};

struct dh_racy_variables {
    DH_VEC(struct dh_racy_variable) at;
};

/* The variable of a finding: a new one, or one more finding of a known one. False: no place of it is in this build. */
bool dh_racy_variables_add(struct dh_racy_variables *v, struct dh_subject *s, const struct dh_finding *f);
/* By the name that the user gives; with indices ("grid[3][17]") that element is always served. False: there is none;
 * `near` gets similar names, one per line. */
bool dh_racy_variables_add_by_name(struct dh_racy_variables *v, struct dh_subject *s, const char *name,
                                   struct dh_str *near);
/* One more finding: its places and its pair. Returns how many of its sites are in this build. */
unsigned dh_racy_variable_add_finding(struct dh_racy_variable *v, struct dh_subject *s, const struct dh_finding *f);
/* Adds places that a run saw access it under another name, a byte per place. Returns how many are new. */
unsigned dh_racy_variable_add_places(struct dh_racy_variable *v, struct dh_subject *s, const uint8_t *met);
void dh_racy_variable_release(struct dh_racy_variable *v);
void dh_racy_variables_release(struct dh_racy_variables *v);

/* Places of a site: its inlined copies, and the reading half of an update; returns how many. */
enum { DH_RACY_PLACES = 4 };
unsigned dh_racy_places_of_site(struct dh_subject *s, const char *site, uint32_t out[DH_RACY_PLACES]);
/* Does an access at the place read only? */
bool dh_racy_place_loads(struct dh_subject *s, uint32_t place);

#endif
