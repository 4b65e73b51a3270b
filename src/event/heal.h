/* Healing policies: a section file (event/sections.h) read as what is done about its sections. Layer: event (the tool
 * places the hooks by these numbers, the runtime acts on them). Memory as of the sections. Constant once read. */
#ifndef DH_EVENT_HEAL_H
#define DH_EVENT_HEAL_H

#include "event/sections.h"

#define DH_HEAL_NONE UINT32_MAX
enum { DH_HEAL_MOST_GROUPS = 64, DH_HEAL_MOST_SECTIONS = 4096 };

/* Sections that exclude each other, and the variables that nobody else touches meanwhile. */
struct dh_heal_group {
    const char *name;
    uint8_t means; /* dh_heal_means, the same for all of its sections */
    uint32_t line; /* of the first clause that names it */
};

struct dh_heal_policy {
    struct dh_sections file;
    struct dh_heal_group *groups;
    uint32_t n_groups;
    uint32_t *group_of;    /* per section: its group, or DH_HEAL_NONE when nothing heals it */
    uint32_t *variable_of; /* per name of a variable: the group that it belongs to, or DH_HEAL_NONE */
};

/* False with the first mistake in `e`. A policy that heals nothing is a mistake. */
bool dh_heal_read(struct dh_heal_policy *p, const char *text, size_t n, void *(*allocate)(size_t),
                  struct dh_sections_error *e);

/* What a variant is told: the policy, and for every site of its program a mark (event/site_mark.h) with the point and
 * the variable of the file that it is. */
struct dh_heal_plan {
    struct dh_heal_policy policy;
    const char *text;
    uint32_t *marks;
    uint32_t n_marks;
    bool is_library; /* others may have accesses of the same groups: no lock for each object */
};

/* A constant of the program: a bit for every group that has a lock for each object. */
#define DH_HEAL_PER_OBJECT "__dh_heal_per_object"

#endif
