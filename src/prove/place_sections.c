/* Section files resolved to places. */
#include "base/str.h"
#include "event/engine.h"
#include "event/sections.h"
#include "host/file.h"
#include "prove/place_names.h"

#include <stdlib.h>
#include <string.h>

enum { SECTIONS = 15 };

static void *allocate(size_t n)
{
    return calloc(1, n ? n : 1);
}

static unsigned role_of(const struct dh_section_point *at)
{
    static const unsigned roles[DH_SECTION_ROLES] = {
        [DH_SECTION_ENTRY] = DH_ENGINE_SECTION_ENTRY,
        [DH_SECTION_END] = DH_ENGINE_SECTION_END,
        [DH_SECTION_EXIT] = DH_ENGINE_SECTION_EXIT,
    };
    bool begins = at->role == DH_SECTION_ENTRY;
    return roles[at->role] | (at->allow & DH_ALLOW_READ ? DH_ENGINE_SECTION_ALLOW_READ : 0u) |
           (at->allow & DH_ALLOW_WRITE ? DH_ENGINE_SECTION_ALLOW_WRITE : 0u) |
           (at->section + 1) << (begins ? DH_ENGINE_SECTION_ENTRY_SHIFT : DH_ENGINE_SECTION_END_SHIFT);
}

/* At all copies of the site that inlining made. */
static bool mark_point(struct dh_place_names *p, const struct dh_sections *s, const struct dh_section_point *at,
                       dh_engine_marks *visible, struct dh_err *err)
{
    const char *name = s->sites[at->site];
    unsigned marks = DH_ENGINE_VISIBLE | DH_ENGINE_SECTION_ACCESS | role_of(at), found = 0;
    for (uint32_t i = 0; i < dh_place_names_count(p); i++) {
        const struct dh_site_table *t;
        const struct dh_site *site = dh_place_names_site(p, i, &t);
        if (!site || strcmp(dh_site_string(t, site->name), name) != 0)
            continue;
        visible[i] |= (dh_engine_marks)marks;
        found++;
    }
    return found || dh_err_set(err, "section %s: the program has no site %s", s->sections[at->section].name, name);
}

static bool is_named(const struct dh_sections *s, const char *variable)
{
    for (uint32_t i = 0; i < s->n_names; i++)
        if (strcmp(s->names[i], variable) == 0)
            return true;
    return false;
}

static bool mark_sections(struct dh_place_names *p, const struct dh_sections *s, dh_engine_marks *visible,
                          struct dh_err *err)
{
    if (s->n_sections > SECTIONS)
        return dh_err_set(err, "%u sections; at most %d can be looked at", s->n_sections, SECTIONS);
    for (uint32_t i = 0; i < s->n_points; i++)
        if (!mark_point(p, s, &s->points[i], visible, err))
            return false;
    for (uint32_t i = 0; i < dh_place_names_count(p); i++) {
        const struct dh_site_table *t;
        const struct dh_site *site = dh_place_names_site(p, i, &t);
        enum dh_group group = site ? dh_op_info(site->op)->group : DH_GROUP_CALL;
        if ((group == DH_GROUP_ACCESS || group == DH_GROUP_ATOMIC) && is_named(s, dh_site_string(t, site->variable)))
            visible[i] |= DH_ENGINE_VISIBLE | DH_ENGINE_SECTION_ACCESS;
    }
    return true;
}

bool dh_place_names_sections(struct dh_place_names *p, const char *path, dh_engine_marks *visible, struct dh_err *err)
{
    struct dh_sections s;
    struct dh_sections_error e;
    struct dh_bytes b;
    if (!dh_file_read(path, &b, err))
        return false;
    bool ok = dh_sections_read(&s, (const char *)b.at, b.n, allocate, &e) ||
              dh_err_set(err, "%s:%u:%u: %s", path, e.line, e.column, e.text);
    ok = ok && mark_sections(p, &s, visible, err);
    dh_bytes_release(&b);
    return ok;
}
