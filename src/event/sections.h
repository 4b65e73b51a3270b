/* Section files and policies, one grammar: docs/formats/sections.md. Layer: event (the tool resolves the names, the
 * runtime follows the sections by the same numbers). The reader uses no libc; all of it lives in memory that the
 * caller's `allocate` gives, never freed here. A read file is constant. */
#ifndef DH_EVENT_SECTIONS_H
#define DH_EVENT_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dh_section_role { DH_SECTION_ENTRY, DH_SECTION_END, DH_SECTION_EXIT, DH_SECTION_ROLES };
enum dh_section_allow { DH_ALLOW_READ = 1, DH_ALLOW_WRITE = 2 };
enum dh_heal_means { DH_HEAL_LOCK, DH_HEAL_SCHEDULE, DH_HEAL_ORDER, DH_HEAL_MEANS };

/* Where a section begins or ends. */
struct dh_section_point {
    uint32_t section;
    uint32_t site; /* index into `sites` */
    uint8_t role;  /* dh_section_role */
    uint8_t allow; /* dh_section_allow: what others may do when it ends here */
    uint32_t line;
};

/* A variable that belongs to a section. */
struct dh_section_variable {
    uint32_t section;
    uint32_t variable; /* index into `variables` */
    uint32_t line;
};

struct dh_section {
    const char *name;
    uint32_t line;
};

struct dh_heal {
    uint32_t section;
    uint8_t means;       /* dh_heal_means */
    const char *group;   /* NULL: none of its own */
    const char *because; /* id of the finding, or NULL */
    uint32_t line;
};

struct dh_sections {
    struct dh_section *sections;
    struct dh_section_point *points;       /* as written */
    struct dh_section_variable *variables; /* as written */
    struct dh_heal *heals;
    const char **sites, **names; /* every site and every variable that the file names, once, in order */
    uint32_t n_sections, n_points, n_variables, n_heals, n_sites, n_names;
};

struct dh_sections_error {
    uint32_t line, column; /* from 1 */
    char text[200];        /* what was found and what was expected */
};

/* False with the first mistake in `e`. Empty text is a file without sections. */
bool dh_sections_read(struct dh_sections *s, const char *text, size_t n, void *(*allocate)(size_t),
                      struct dh_sections_error *e);

/* The file again, one clause a line; reading it gives an equal file. */
void dh_sections_print(const struct dh_sections *s, void (*put)(void *arg, const char *text, size_t n), void *arg);

#endif
