#include "event/heal.h"

#include "base/reader.h"

#define FAIL(e, at_line, ...)                                                                                          \
    (*(e) = (struct dh_sections_error){.line = at_line, .column = 1}, DH_MESSAGE((e)->text, __VA_ARGS__), false)

/* A section without a group is one of its own, under its own name. */
static uint32_t find_group(struct dh_heal_policy *p, const char *name, const struct dh_heal *h)
{
    for (uint32_t i = 0; i < p->n_groups; i++)
        if (dh_span_is(dh_span_of(p->groups[i].name), name))
            return i;
    p->groups[p->n_groups] = (struct dh_heal_group){name, h->means, h->line};
    return p->n_groups++;
}

static bool read_heals(struct dh_heal_policy *p, struct dh_sections_error *e)
{
    const struct dh_sections *f = &p->file;
    for (uint32_t i = 0; i < f->n_heals; i++) {
        const struct dh_heal *h = &f->heals[i];
        const char *section = f->sections[h->section].name, *name = h->group ? h->group : section;
        if (p->group_of[h->section] != DH_HEAL_NONE)
            return FAIL(e, h->line, "section '", section, "' is healed a second time; expected one 'heal' for each");
        uint32_t group = find_group(p, name, h);
        if (p->groups[group].means != h->means)
            return FAIL(e, h->line, "group '", name, "' is healed by two means; expected one for all of its sections");
        if (p->n_groups > DH_HEAL_MOST_GROUPS)
            return FAIL(e, h->line, "too many groups; there may be 64");
        p->group_of[h->section] = group;
    }
    return true;
}

/* A variable under two locks would be taken by both in either order. */
static bool read_variables(struct dh_heal_policy *p, struct dh_sections_error *e)
{
    const struct dh_sections *f = &p->file;
    for (uint32_t i = 0; i < f->n_variables; i++) {
        const struct dh_section_variable *v = &f->variables[i];
        uint32_t group = p->group_of[v->section], *known = &p->variable_of[v->variable];
        if (group == DH_HEAL_NONE || p->groups[group].means == DH_HEAL_ORDER)
            continue;
        if (*known != DH_HEAL_NONE && *known != group)
            return FAIL(e, v->line, "variable '", f->names[v->variable], "' belongs to groups '",
                        p->groups[*known].name, "' and '", p->groups[group].name, "'; put their sections into one");
        *known = group;
    }
    return true;
}

static bool make_room(struct dh_heal_policy *p, void *(*allocate)(size_t))
{
    const struct dh_sections *f = &p->file;
    p->groups = allocate((f->n_heals + 1) * sizeof *p->groups);
    p->group_of = allocate((f->n_sections + 1) * sizeof *p->group_of);
    p->variable_of = allocate((f->n_names + 1) * sizeof *p->variable_of);
    if (!p->groups || !p->group_of || !p->variable_of)
        return false;
    for (uint32_t i = 0; i < f->n_sections; i++)
        p->group_of[i] = DH_HEAL_NONE;
    for (uint32_t i = 0; i < f->n_names; i++)
        p->variable_of[i] = DH_HEAL_NONE;
    return true;
}

bool dh_heal_read(struct dh_heal_policy *p, const char *text, size_t n, void *(*allocate)(size_t),
                  struct dh_sections_error *e)
{
    *p = (struct dh_heal_policy){.n_groups = 0};
    if (!dh_sections_read(&p->file, text, n, allocate, e))
        return false;
    if (!p->file.n_heals)
        return FAIL(e, 1, "the policy heals nothing; expected 'heal NAME by lock|schedule|order;'");
    if (p->file.n_sections > DH_HEAL_MOST_SECTIONS)
        return FAIL(e, p->file.sections[DH_HEAL_MOST_SECTIONS].line, "too many sections; there may be 4096");
    if (!make_room(p, allocate))
        return FAIL(e, 1, "there is no memory to read it");
    return read_heals(p, e) && read_variables(p, e);
}
