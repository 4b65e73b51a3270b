/* Kinds, levels, verdicts and states of healing of findings, and the names that store, JSON and options have for them.
 * Layer: finding. The tables are .def files; names of kinds and levels are with the log (event/finding_log.h). */
#ifndef DH_FINDING_NAMES_H
#define DH_FINDING_NAMES_H

#include "event/finding_log.h"

#include <stdbool.h>

enum dh_finding_verdict {
#define DH_FINDING_VERDICT(id, name) DH_VERDICT_##id,
#include "finding/verdict.def"
#undef DH_FINDING_VERDICT
    DH_VERDICT_COUNT
};

enum dh_finding_healing {
#define DH_FINDING_HEALING(id, name) DH_HEALING_##id,
#include "finding/healing.def"
#undef DH_FINDING_HEALING
    DH_HEALING_COUNT
};

const char *dh_finding_verdict_name(enum dh_finding_verdict v);
const char *dh_finding_healing_name(enum dh_finding_healing h);

/* A set of kinds is made of these bits. */
#define DH_KIND_BIT(id) (1u << DH_FINDING_##id)
static inline bool dh_kind_is_in(enum dh_finding_kind kind, uint32_t set)
{
    return kind < DH_FINDING_KIND_COUNT && (set >> kind & 1);
}

/* Of a name that is not known: DH_FINDING_KIND_COUNT, and the first of the others. */
enum dh_finding_kind dh_finding_kind_parse(const char *name);
enum dh_finding_level dh_finding_level_parse(const char *name);
enum dh_finding_verdict dh_finding_verdict_parse(const char *name);
enum dh_finding_healing dh_finding_healing_parse(const char *name);

#endif
