/* Field sets: which bytes of which objects were read and written, and their names in the source. Layer: detect. For the
 * detectors that compare what critical sections and functions access (views, methods). The pieces of a normalised set
 * are sorted by address and disjoint. Objects that follow each other at one address differ by `object`. The owner of a
 * set releases it. */
#ifndef DH_DETECT_FIELD_SET_H
#define DH_DETECT_FIELD_SET_H

#include "base/map.h"
#include "base/vec.h"
#include "detect/run_state.h"

#include <stdbool.h>
#include <stdint.h>

enum { DH_FIELD_READ = 1, DH_FIELD_WRITTEN = 2 };

struct dh_field_place {
    uint32_t site, ctx;
};

struct dh_field {
    uint64_t at, end;
    uint32_t object; /* number of its object; 0: a global, or none is known */
    uint32_t name;   /* of dh_field_names; 0: not known */
    uint8_t how;     /* DH_FIELD_* */
    struct dh_field_place read, write;
};

struct dh_field_set {
    DH_VEC(struct dh_field) at;
    size_t normalised; /* of the pieces, the first so many */
};

/* Interned names of variables of the site table. */
struct dh_field_names {
    struct dh_string_map names; /* 0 is "" */
    struct {
        uint32_t site, name;
    } recent[256]; /* by site, wrapped */
};

void dh_field_names_init(struct dh_field_names *n);
void dh_field_names_release(struct dh_field_names *n);
uint32_t dh_field_names_number(struct dh_field_names *n, const char *text);
const char *dh_field_name(const struct dh_field_names *n, uint32_t name);

/* An access as a piece. */
struct dh_field dh_field_of(struct dh_run_state *w, struct dh_field_names *n, const struct dh_event *e);

void dh_field_set_add(struct dh_field_set *s, const struct dh_field *f);
void dh_field_set_add_all(struct dh_field_set *s, const struct dh_field_set *from);
/* Sorts, splits overlapping pieces (the smaller one gives the name) and joins neighbours of one name. */
void dh_field_set_normalise(struct dh_field_set *s);
void dh_field_set_copy(struct dh_field_set *to, const struct dh_field_set *from);
void dh_field_set_release(struct dh_field_set *s);
/* Does any byte of [at, end) of that object lie in the normalised set? */
bool dh_field_set_overlaps(const struct dh_field_set *s, uint32_t object, uint64_t at, uint64_t end);
uint64_t dh_field_set_hash(const struct dh_field_set *s);

/* Iterates over the intersection of two normalised sets; zero-initialise. `a` and `b` are the pieces that overlap. */
struct dh_field_set_common {
    size_t i, j;
    uint64_t at, end;
    const struct dh_field *a, *b;
};
bool dh_field_set_next_common(const struct dh_field_set *a, const struct dh_field_set *b,
                              struct dh_field_set_common *c);

#endif
