#include "driver/site_selection.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/vec.h"
#include "driver/libraries.h"
#include "event/sections.h"
#include "host/cache.h"
#include "host/file.h"
#include "image/container.h"

#include <stdlib.h>
#include <string.h>

/* ---- targets ---- */

static const char *after(const char *text, const char *prefix)
{
    return dh_starts_with(text, prefix) ? text + strlen(prefix) : NULL;
}

/* The variable's name in the site table, with or without `struct`, or its field alone. */
static bool names_variable(const struct dh_site_table *t, const struct dh_site *s, const char *name)
{
    static const char *const tags[] = {"struct ", "union ", "class "};
    const char *variable = dh_site_string(t, s->variable), *field = dh_site_string(t, s->field);
    if (!*name || !*variable)
        return false;
    if (!strcmp(variable, name) || !strcmp(field, name))
        return true;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (dh_starts_with(variable, tags[i]) && !strcmp(variable + strlen(tags[i]), name))
            return true;
    return false;
}

/* A path names a file by its last parts. */
static bool names_file(const char *path, const char *name, size_t n)
{
    size_t whole = strlen(path);
    return n && n <= whole && !strncmp(path + whole - n, name, n) && (n == whole || path[whole - n - 1] == '/');
}

static bool is_digits(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return n > 0;
}

/* FILE:LINE, optionally followed by :R or :W. */
static bool names_line(const struct dh_site_table *t, const struct dh_site *s, const char *text)
{
    size_t n = strlen(text);
    bool reads = n > 2 && !strcmp(text + n - 2, ":R"), writes = n > 2 && !strcmp(text + n - 2, ":W");
    n -= reads || writes ? 2 : 0;
    size_t colon = n;
    while (colon && text[colon - 1] != ':')
        colon--;
    if (!colon || !is_digits(text + colon, n - colon) || strtoul(text + colon, NULL, 10) != s->line)
        return false;
    return names_file(dh_site_string(t, s->file), text, colon - 1) && (!reads || s->op == DH_OP_READ) &&
           (!writes || s->op == DH_OP_WRITE);
}

static bool names_site(const struct dh_site_table *t, const struct dh_site *s, const char *text)
{
    return !strcmp(dh_site_string(t, s->name), text) || names_line(t, s, text);
}

bool dh_target_matches(const struct dh_site_table *t, const struct dh_site *s, const char *target)
{
    const char *name;
    if (!strcmp(target, "all"))
        return true;
    if ((name = after(target, "var:")))
        return names_variable(t, s, name);
    if ((name = after(target, "fun:")))
        return !strcmp(dh_site_string(t, s->function), name);
    if ((name = after(target, "file:")))
        return names_file(dh_site_string(t, s->file), name, strlen(name));
    if ((name = after(target, "loc:")))
        return names_line(t, s, name);
    return (name = after(target, "site:")) && names_site(t, s, name);
}

const char *dh_target_check(const char *target)
{
    static const char *const kinds[] = {"var:", "fun:", "file:", "loc:", "site:"};
    if (!strcmp(target, "all"))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *name = after(target, kinds[i]);
        if (!name)
            continue;
        const char *colon = strrchr(name, ':');
        if (!*name)
            return "a name is expected behind the ':'";
        if (i == 3 && (!colon || colon == name || !is_digits(colon + 1, strlen(colon + 1))))
            return "FILE:LINE is expected behind 'loc:'";
        return NULL;
    }
    return "expected all, var:NAME, fun:NAME, file:NAME, loc:FILE:LINE or site:STABLE-NAME";
}

/* ---- storing ---- */

static char *path_of(const char *name, size_t n, struct dh_err *err)
{
    char *cache = dh_cache_folder(err);
    char *path = cache ? dh_format("%s/selection-%.*s", cache, (int)n, name) : NULL;
    free(cache);
    return path;
}

bool dh_selection_store(const char *text, size_t n, char **name, char **path, struct dh_err *err)
{
    struct dh_id id = dh_content_hash(text, n);
    char hex[33];
    dh_id_text(&id, hex);
    *name = dh_format("%.16s", hex);
    *path = path_of(*name, strlen(*name), err);
    if (*path && dh_file_write(*path, text, n, 0600, err))
        return true;
    free(*name);
    free(*path);
    return dh_err_while(err, "keeping the selection of sites");
}

/* ---- applying ---- */

struct target {
    char *text;
    int group; /* of noise; -1: checked by AtomRace */
    bool maybe;
};

struct selection {
    DH_VEC(struct target) targets;
    struct dh_sections sections;
};

static bool read_line(struct selection *s, const char *line, size_t n)
{
    char *copy = dh_format("%.*s", (int)n, line), *end;
    const char *rest;
    struct target t = {.group = -1};
    bool ok = true;
    if ((rest = after(copy, "sites ")))
        t.text = dh_strdup(rest);
    else if ((rest = after(copy, "noise ")) || (rest = after(copy, "maybe "))) {
        t.maybe = dh_starts_with(copy, "maybe ");
        t.group = (int)strtol(rest, &end, 10);
        ok = end != rest && *end == ' ' && t.group >= 0 && t.group < DH_SITE_MARK_NOISE_GROUPS;
        t.text = ok ? dh_strdup(end + 1) : NULL;
    } else {
        ok = false;
    }
    if (ok)
        dh_vec_push(&s->targets, t);
    free(copy);
    return ok;
}

static bool read_selection(struct selection *s, const char *text, size_t n, const char *path, struct dh_err *err)
{
    struct dh_sections_error e;
    for (const char *at = text, *end = text + n; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((line_end ? line_end : end) - at);
        const char *next = line_end ? line_end + 1 : end;
        if (length > 9 && !strncmp(at, "sections ", 9)) {
            return dh_sections_read(&s->sections, next, (size_t)(end - next), malloc, &e) ||
                   dh_err_set(err, "%s: sections:%u:%u: %s", path, e.line, e.column, e.text);
        }
        if (!read_line(s, at, length))
            return dh_err_set(err, "%s: '%.*s' is no line of a selection", path, (int)length, at);
        at = next;
    }
    return true;
}

static void release(struct selection *s)
{
    for (size_t i = 0; i < s->targets.n; i++)
        free(s->targets.at[i].text);
    dh_vec_release(&s->targets);
    free(s->sections.sections);
    free(s->sections.points);
    free(s->sections.variables);
    free(s->sections.heals);
    free(s->sections.sites);
    free(s->sections.names);
}

static uint32_t mark_of(const struct selection *sel, const struct dh_site_table *t, const struct dh_site *s)
{
    uint32_t mark = 0;
    for (size_t i = 0; i < sel->targets.n; i++)
        if (dh_target_matches(t, s, sel->targets.at[i].text))
            mark |= sel->targets.at[i].group < 0 ? (uint32_t)DH_SITE_MARK_COLLIDE
                                                 : 1u << (DH_SITE_MARK_NOISE_SHIFT + sel->targets.at[i].group);
    for (uint32_t i = 0; i < sel->sections.n_sites && i < DH_SITE_MARK_POINTS; i++)
        if (names_site(t, s, sel->sections.sites[i])) {
            mark |= (i + 1) << DH_SITE_MARK_POINT_SHIFT;
            break;
        }
    for (uint32_t i = 0; i < sel->sections.n_names && i < DH_SITE_MARK_VARIABLES; i++)
        if (names_variable(t, s, sel->sections.names[i])) {
            mark |= (i + 1) << DH_SITE_MARK_VARIABLE_SHIFT;
            break;
        }
    return mark;
}

static void apply(const struct selection *sel, const struct dh_site_table *t, struct dh_plan *plan)
{
    uint16_t *bits = dh_xcalloc(t->n_sites, sizeof *bits);
    uint32_t *marks = dh_xcalloc(t->n_sites, sizeof *marks);
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const struct dh_site *s = &t->sites[i];
        enum dh_group group = dh_op_info(s->op)->group;
        if (group == DH_GROUP_ACCESS || group == DH_GROUP_MEMORY ||
            (group == DH_GROUP_ATOMIC && plan->everywhere & DH_CLASS_STALE))
            marks[i] = mark_of(sel, t, s);
        /* Atomics stay: accesses before and after one are not one section, and they bound stale values. */
        bool wanted = marks[i] || group == DH_GROUP_ATOMIC;
        bits[i] = (uint16_t)(wanted ? plan->everywhere : plan->everywhere & ~(DH_CLASS_ATOMRACE | DH_CLASS_STALE));
    }
    plan->bits = bits;
    plan->marks = marks;
    plan->n_bits = t->n_sites;
}

/* The mark and hash after a class that is selected by site; healing has a mark and a policy of its own. */
static const char *selection_in(const char *plan_name)
{
    static const char *const classes[] = {"atomrace", "stale"};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const char *at = strstr(plan_name, classes[i]);
        if (at && at[strlen(classes[i])] == DH_SELECTION_MARK)
            return at + strlen(classes[i]);
    }
    return NULL;
}

bool dh_selection_apply(const char *plan_name, const struct dh_site_table *t, struct dh_plan *plan, struct dh_err *err)
{
    const char *name = selection_in(plan_name);
    if (!name)
        return true;
    struct selection sel = {0};
    struct dh_bytes b;
    char *path = path_of(name + 1, strcspn(name + 1, ","), err);
    bool ok = path && dh_file_read(path, &b, err);
    if (ok) {
        ok = read_selection(&sel, (const char *)b.at, b.n, path, err);
        if (ok)
            apply(&sel, t, plan);
        dh_bytes_release(&b);
    }
    release(&sel);
    free(path);
    return ok || dh_err_while(err, "selecting the sites of the plan '%s'", plan_name);
}

/* ---- checking that all targets exist ---- */

struct checking {
    const struct selection *sel;
    bool *targets, *sites, *names; /* that were found */
};

static void check_table(void *arg, const struct dh_site_table *t)
{
    struct checking *c = arg;
    const struct selection *sel = c->sel;
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const struct dh_site *s = &t->sites[i];
        enum dh_group group = dh_op_info(s->op)->group;
        /* An atomic counts as present although no class checks it. */
        if (group != DH_GROUP_ACCESS && group != DH_GROUP_MEMORY && group != DH_GROUP_ATOMIC)
            continue;
        for (size_t k = 0; k < sel->targets.n; k++)
            c->targets[k] |= dh_target_matches(t, s, sel->targets.at[k].text);
        for (uint32_t k = 0; k < sel->sections.n_sites; k++)
            c->sites[k] |= names_site(t, s, sel->sections.sites[k]);
        for (uint32_t k = 0; k < sel->sections.n_names; k++)
            c->names[k] |= names_variable(t, s, sel->sections.names[k]);
    }
}

static const struct dh_section *section_naming(const struct dh_sections *s, uint32_t site)
{
    for (uint32_t i = 0; i < s->n_points; i++)
        if (s->points[i].site == site)
            return &s->sections[s->points[i].section];
    return NULL;
}

static bool report_missing(const struct checking *c, const char *program, struct dh_err *err)
{
    const struct selection *sel = c->sel;
    for (size_t k = 0; k < sel->targets.n; k++)
        if (!c->targets[k] && !sel->targets.at[k].maybe && strcmp(sel->targets.at[k].text, "all") != 0)
            return dh_err_set(err, "no access of %s is %s; expected one that 'deadheat sites' lists", program,
                              sel->targets.at[k].text);
    for (uint32_t k = 0; k < sel->sections.n_sites; k++)
        if (!c->sites[k])
            return dh_err_set(err, "section '%s': no access of %s is '%s'; expected one that 'deadheat sites' lists",
                              section_naming(&sel->sections, k)->name, program, sel->sections.sites[k]);
    for (uint32_t k = 0; k < sel->sections.n_names; k++)
        if (!c->names[k])
            return dh_err_set(err, "sections: no variable of %s is '%s'; expected one that 'deadheat sites' lists",
                              program, sel->sections.names[k]);
    return true;
}

bool dh_selection_check(const char *path, const char *program, struct dh_err *err)
{
    struct selection sel = {0};
    struct dh_bytes b;
    struct dh_err ignored = {0};
    if (!dh_file_read(path, &b, err))
        return false;
    bool ok = read_selection(&sel, (const char *)b.at, b.n, path, err);
    if (ok) {
        struct checking c = {&sel, dh_xcalloc(sel.targets.n, 1), dh_xcalloc(sel.sections.n_sites, 1),
                             dh_xcalloc(sel.sections.n_names, 1)};
        dh_site_tables_each(program, check_table, &c, &ignored);
        ok = report_missing(&c, program, err);
        free(c.targets);
        free(c.sites);
        free(c.names);
    }
    dh_err_release(&ignored);
    dh_bytes_release(&b);
    release(&sel);
    return ok;
}
