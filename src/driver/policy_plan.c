#include "driver/policy_plan.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/vec.h"
#include "driver/libraries.h"
#include "driver/site_selection.h"
#include "host/cache.h"
#include "host/file.h"
#include "image/container.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static bool is_access(const struct dh_site *s)
{
    enum dh_group group = dh_op_info(s->op)->group;
    return group == DH_GROUP_ACCESS || group == DH_GROUP_MEMORY || group == DH_GROUP_ATOMIC;
}

static bool matches(const struct dh_site_table *t, const struct dh_site *s, const char *kind, const char *name)
{
    char *target = dh_format("%s:%s", kind, name);
    bool found = dh_target_matches(t, s, target);
    free(target);
    return found;
}

bool dh_policy_names_site(const struct dh_site_table *t, const struct dh_site *s, const char *name)
{
    const char *last = strrchr(name, ':'), *letters = dh_op_info(s->op)->letters;
    if (!strcmp(dh_site_string(t, s->name), name))
        return true;
    if (!last || strchr(name, '#'))
        return false;
    if (strcmp(last + 1, letters) != 0)
        return is_access(s) && matches(t, s, "site", name);
    char *line = dh_format("%.*s", (int)(last - name), name);
    bool found = matches(t, s, "site", line);
    free(line);
    return found;
}

/* Copying a whole object accesses its members. */
static bool holds_variable(const char *object, const char *name)
{
    size_t n = strlen(object);
    return n && !strncmp(object, name, n) && name[n] == '.';
}

static bool names_variable(const struct dh_site_table *t, const struct dh_site *s, const char *name)
{
    if (!is_access(s))
        return false;
    if (matches(t, s, "var", name))
        return true;
    if (dh_op_info(s->op)->group != DH_GROUP_MEMORY)
        return false;
    const char *source = dh_site_string(t, s->source);
    return !strcmp(source, name) || holds_variable(source, name) ||
           holds_variable(dh_site_string(t, s->variable), name);
}

/* ---- keeping ---- */

static char *path_of(const char *name, size_t n, struct dh_err *err)
{
    char *cache = dh_cache_folder(err);
    char *path = cache ? dh_format("%s/policy-%.*s", cache, (int)n, name) : NULL;
    free(cache);
    return path;
}

bool dh_policy_keep_text(const char *name, const char *text, size_t n, char **plan, struct dh_err *err)
{
    struct dh_heal_policy policy;
    struct dh_sections_error e;
    if (!dh_heal_read(&policy, text, n, malloc, &e))
        return dh_err_set(err, "%s:%u:%u: %s", name, e.line, e.column, e.text);
    struct dh_id id = dh_content_hash(text, n);
    char hex[33];
    dh_id_text(&id, hex);
    char *path = path_of(hex, 16, err);
    bool ok = path && dh_file_write(path, text, n, 0600, err);
    if (ok)
        *plan = dh_format("heal@%.16s", hex);
    free(path);
    return ok || dh_err_while(err, "keeping the policy");
}

bool dh_policy_keep(const char *file, char **plan, struct dh_err *err)
{
    struct dh_bytes b;
    if (!dh_file_read(file, &b, err))
        return false;
    bool ok = dh_policy_keep_text(file, (const char *)b.at, b.n, plan, err);
    dh_bytes_release(&b);
    return ok;
}

/* ---- applying ---- */

static uint32_t mark_of(const struct dh_heal_policy *p, const struct dh_site_table *t, const struct dh_site *s)
{
    uint32_t mark = 0;
    for (uint32_t i = 0; i < p->file.n_sites && i < DH_SITE_MARK_POINTS; i++)
        if (dh_policy_names_site(t, s, p->file.sites[i])) {
            mark |= (i + 1) << DH_SITE_MARK_POINT_SHIFT;
            break;
        }
    for (uint32_t i = 0; i < p->file.n_names && i < DH_SITE_MARK_VARIABLES; i++)
        if (p->variable_of[i] != DH_HEAL_NONE && names_variable(t, s, p->file.names[i])) {
            mark |= (i + 1) << DH_SITE_MARK_VARIABLE_SHIFT;
            break;
        }
    return mark;
}

/* The hash of the policy in the plan's name. */
static const char *policy_hash(const char *plan_name)
{
    static const char *const words[] = {"heal@", "production@"};
    for (const char *at = plan_name; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (dh_starts_with(at, words[i]))
                return at + strlen(words[i]);
    return NULL;
}

bool dh_policy_place(const char *plan_name, const struct dh_site_table *t, struct dh_plan *plan, struct dh_err *err)
{
    const char *name = policy_hash(plan_name);
    struct dh_bytes b;
    struct dh_sections_error e;
    if (!name)
        return true;
    char *path = path_of(name, strcspn(name, ","), err);
    if (!path || !dh_file_read(path, &b, err)) {
        free(path);
        return dh_err_while(err, "looking for the policy of the plan '%s'", plan_name);
    }
    struct dh_heal_plan *h = DH_NEW(struct dh_heal_plan);
    uint32_t *marks = dh_xcalloc(t->n_sites + 1, sizeof *marks);
    h->text = dh_format("%.*s", (int)b.n, (const char *)b.at);
    bool ok = dh_heal_read(&h->policy, h->text, strlen(h->text), malloc, &e);
    if (!ok)
        dh_err_set(err, "%s:%u:%u: %s", path, e.line, e.column, e.text);
    for (uint32_t i = 0; ok && i < t->n_sites; i++)
        marks[i] = mark_of(&h->policy, t, &t->sites[i]);
    h->marks = marks;
    h->n_marks = t->n_sites;
    plan->heal = h;
    dh_bytes_release(&b);
    free(path);
    return ok;
}

/* ---- names that match nothing ---- */

struct checking {
    const struct dh_heal_policy *p;
    bool *sites, *names; /* that match */
    char *twice;         /* a site that is called by two names, or NULL */
};

static void check_site(struct checking *c, const struct dh_site_table *t, const struct dh_site *s)
{
    const struct dh_sections *f = &c->p->file;
    const char *known = NULL;
    for (uint32_t k = 0; k < f->n_sites; k++) {
        if (!dh_policy_names_site(t, s, f->sites[k]))
            continue;
        c->sites[k] = true;
        if (known && !c->twice)
            c->twice = dh_format("'%s' and '%s' are the same access; expected one name for it", known, f->sites[k]);
        known = f->sites[k];
    }
    for (uint32_t k = 0; k < f->n_names; k++)
        c->names[k] |= names_variable(t, s, f->names[k]) ||
                       (!is_access(s) && matches(t, s, "var", f->names[k])); /* a lock, for gates */
}

static void check_sites(void *arg, const struct dh_site_table *t)
{
    struct checking *c = arg;
    for (uint32_t i = 0; i < t->n_sites; i++)
        check_site(c, t, &t->sites[i]);
}

/* A line for each name that matches nothing; answers how many sections are whole. */
static uint32_t list_missing(const struct checking *c, const char *file, const char *program,
                             void (*note)(void *arg, const char *line), void *arg)
{
    const struct dh_sections *f = &c->p->file;
    uint32_t whole = 0;
    for (uint32_t k = 0; k < f->n_sections; k++) {
        bool ok = c->p->group_of[k] != DH_HEAL_NONE;
        for (uint32_t i = 0; i < f->n_points; i++)
            if (f->points[i].section == k && !c->sites[f->points[i].site]) {
                char *line = dh_format("%s:%u: no site of %s is '%s'; expected one that 'deadheat sites' lists", file,
                                       f->points[i].line, program, f->sites[f->points[i].site]);
                note(arg, line);
                free(line);
                ok = false;
            }
        for (uint32_t i = 0; i < f->n_variables; i++)
            if (f->variables[i].section == k && !c->names[f->variables[i].variable]) {
                char *line = dh_format("%s:%u: no variable of %s is '%s'; expected one that 'deadheat sites' lists",
                                       file, f->variables[i].line, program, f->names[f->variables[i].variable]);
                note(arg, line);
                free(line);
                ok = false;
            }
        whole += ok;
    }
    return whole;
}

struct noting {
    void (*note)(const char *line); /* NULL: the first is an error */
    struct dh_err *err;
};

static void note_line(void *arg, const char *line)
{
    struct noting *t = arg;
    if (t->note)
        t->note(line);
    else if (!t->err->text)
        dh_err_set(t->err, "%s", line);
}

static bool read_policy(const char *file, struct dh_heal_policy *p, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_sections_error e;
    if (!dh_file_read(file, &b, err))
        return false;
    bool ok = dh_heal_read(p, (const char *)b.at, b.n, malloc, &e) ||
              dh_err_set(err, "%s:%u:%u: %s", file, e.line, e.column, e.text);
    dh_bytes_release(&b);
    return ok;
}

/* Libraries among the files of a linker's trace. */
static void each_linked(const char *trace, void (*fn)(void *arg, const struct dh_site_table *t), void *arg)
{
    for (const char *at = trace; *at;) {
        size_t n = strcspn(at, "\n");
        char *path = dh_format("%.*s", (int)n, at);
        const char *dot = strstr(dh_basename(path), ".so");
        struct dh_err ignored = {0};
        if (dot && (!dot[3] || dot[3] == '.') && dh_container_present(path))
            dh_site_tables_each(path, fn, arg, &ignored);
        dh_err_release(&ignored);
        free(path);
        at += n + (at[n] == '\n');
    }
}

/* Of the program, or of the table when there is one. */
static bool check(const char *file, const char *program, const struct dh_site_table *t, const char *trace,
                  struct noting *noting)
{
    struct dh_heal_policy policy;
    struct dh_err *err = noting->err, ignored = {0};
    if (!read_policy(file, &policy, err))
        return false;
    struct checking c = {&policy, dh_xcalloc(policy.file.n_sites, 1), dh_xcalloc(policy.file.n_names, 1), NULL};
    if (t) {
        check_sites(&c, t);
        each_linked(trace, check_sites, &c);
    } else {
        dh_site_tables_each(program, check_sites, &c, &ignored);
    }
    uint32_t whole = list_missing(&c, file, program, note_line, noting);
    if (!err->text && c.twice)
        dh_err_set(err, "%s: %s", file, c.twice);
    else if (!err->text && !whole)
        dh_err_set(err, "%s: no section of it is in %s; it is the policy of another program", file, program);
    dh_err_release(&ignored);
    free(c.sites);
    free(c.names);
    free(c.twice);
    return !err->text;
}

bool dh_policy_matches(const char *file, const char *program, bool partly, void (*note)(const char *line),
                       struct dh_err *err)
{
    return check(file, program, NULL, "", &(struct noting){partly ? note : NULL, err});
}

bool dh_policy_matches_linked(const char *file, const struct dh_site_table *t, const char *trace, bool library,
                              struct dh_err *err)
{
    struct dh_heal_policy policy;
    return library ? read_policy(file, &policy, err)
                   : check(file, "the program", t, trace, &(struct noting){NULL, err});
}

/* ---- libraries ---- */

struct sharing {
    const struct dh_heal_policy *p;
    unsigned tables; /* that have a site of the policy */
};

static void count_table(void *arg, const struct dh_site_table *t)
{
    struct sharing *s = arg;
    for (uint32_t i = 0; i < t->n_sites; i++)
        if (mark_of(s->p, t, &t->sites[i])) {
            s->tables++;
            return;
        }
}

void dh_policy_find_shared(struct dh_plan *plan, const char *program)
{
    struct dh_err ignored = {0};
    struct sharing s = {plan->heal ? &plan->heal->policy : NULL, 0};
    if (plan->heal && dh_site_tables_each(program, count_table, &s, &ignored))
        plan->heal->is_library |= s.tables > 1;
    dh_err_release(&ignored);
}

void dh_policy_find_shared_linked(struct dh_plan *plan, const char *trace)
{
    struct sharing s = {&plan->heal->policy, 0};
    each_linked(trace, count_table, &s);
    plan->heal->is_library |= s.tables;
}
