/* Racy variables and the places of a program that access them. Layer: classify. What a finding names is one variable:
 * a global, or a member of a struct in all its instances; what has no name goes by its places. */
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
    bool tears;             /* words that may come in halves are among them */
    char *also;             /* other names that accesses of it go by, as runs showed: "row[], above[]"; "" */
    DH_VEC(struct dh_racy_pair) pairs;
    DH_VEC(struct dh_racy_element) elements; /* of arrays: those that races were seen on, or that were named */
    DH_VEC(char *) sites; /* of a library that the program loads, none of its own: their names. It runs free */
    DH_VEC(const struct dh_finding *) findings;      /* borrowed; none when it was named by the user */
    DH_VEC(const struct dh_racy_variable *) members; /* of a group (classify/variable_groups.h): borrowed; else none */
};

struct dh_racy_variables {
    DH_VEC(struct dh_racy_variable) at;
};

/* The variable of a finding: a new one, or one more finding of a known one. False: no place of it is in this build. */
bool dh_racy_variables_add(struct dh_racy_variables *v, struct dh_subject *s, const struct dh_finding *f);
/* The one that the user calls so; of an array with numbers ("grid[3][17]") that element is watched first. False: there
 * is none; `near` gets names like it, one per line. */
bool dh_racy_variables_add_by_name(struct dh_racy_variables *v, struct dh_subject *s, const char *name,
                                   struct dh_str *near);
/* One more finding of a known one: its places and its pair. How many places of it are in this build. */
unsigned dh_racy_variable_add_finding(struct dh_racy_variable *v, struct dh_subject *s, const struct dh_finding *f);
/* Places that a run saw access it under another name, a byte per place, belong to it from now on. How many are new. */
unsigned dh_racy_variable_add_places(struct dh_racy_variable *v, struct dh_subject *s, const uint8_t *met);
void dh_racy_variable_release(struct dh_racy_variable *v);
void dh_racy_variables_release(struct dh_racy_variables *v);

/* Places that bear the name of a site, inlined here and there, the reading half of an update included; how many. */
enum { DH_RACY_PLACES = 4 };
unsigned dh_racy_places_of_site(struct dh_subject *s, const char *site, uint32_t out[DH_RACY_PLACES]);
/* Does an access at the place read only? */
bool dh_racy_place_loads(struct dh_subject *s, uint32_t place);

#endif
