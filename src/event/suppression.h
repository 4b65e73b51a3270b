/* Suppression files as other tools write them: lines `type:pattern`, `#` comments. Layer: event (the tool matches
 * names, the runtime what it knows without them). No libc, no memory: what is answered points into the text.
 * Thread-safe. */
#ifndef DH_EVENT_SUPPRESSION_H
#define DH_EVENT_SUPPRESSION_H

#include "base/reader.h"

enum dh_suppression_type {
    DH_SUPPRESS_RACE,
    DH_SUPPRESS_RACE_TOP, /* the innermost frame of an access only */
    DH_SUPPRESS_THREAD,
    DH_SUPPRESS_MUTEX,
    DH_SUPPRESS_DEADLOCK,
    DH_SUPPRESS_SIGNAL,
    DH_SUPPRESS_CALLED_FROM_LIB,
    DH_SUPPRESS_ANNOTATION,
    DH_SUPPRESS_VIEW,
    DH_SUPPRESS_ATOMICITY,
    DH_SUPPRESS_TYPES
};

struct dh_suppression {
    enum dh_suppression_type type;
    const char *pattern; /* not terminated */
    size_t n;
    unsigned line;  /* from 1 */
    unsigned index; /* among those that are well-formed, from 0 */
};

struct dh_suppression_reader {
    struct dh_cursor text;
    unsigned index;
};

enum dh_suppression_answer { DH_SUPPRESSION_END, DH_SUPPRESSION_READ, DH_SUPPRESSION_MALFORMED };

/* The next line that says something. Malformed: `out->line` is set and `why` says what is wrong with it; go on. */
enum dh_suppression_answer dh_suppression_next(struct dh_suppression_reader *r, struct dh_suppression *out,
                                               const char **why);

/* The word before the colon. */
const char *dh_suppression_type_name(enum dh_suppression_type type);

/* Anywhere in `text`, unless ^ or $ bind it to an end; * stands for anything. Nothing matches an empty text. */
bool dh_suppression_matches(const struct dh_suppression *s, const char *text);

/* Exit code of print-finding for a finding that suppression `index` matches; those beyond share the last one. */
#define DH_SUPPRESSED_FROM 128u
#define DH_SUPPRESSED_LAST 255u

#endif
