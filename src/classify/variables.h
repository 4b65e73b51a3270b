/* Racy variables and the places of a program that access them. Layer: classify. What a finding names is one variable:
 * a global, or a member of a struct in all its instances; what has no name goes by its places. */
#ifndef DH_CLASSIFY_VARIABLES_H
#define DH_CLASSIFY_VARIABLES_H

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
    DH_VEC(struct dh_racy_pair) pairs;
    DH_VEC(const struct dh_finding *) findings; /* borrowed; none when it was named by the user */
};

struct dh_racy_variables {
    DH_VEC(struct dh_racy_variable) at;
};

/* The variable of a finding: a new one, or one more finding of a known one. False: no place of it is in this build. */
bool dh_racy_variables_add(struct dh_racy_variables *v, struct dh_subject *s, const struct dh_finding *f);
/* The one that the user calls so. False: there is none; `near` gets names like it, one per line. */
bool dh_racy_variables_name(struct dh_racy_variables *v, struct dh_subject *s, const char *name, struct dh_str *near);
void dh_racy_variables_release(struct dh_racy_variables *v);

#endif
