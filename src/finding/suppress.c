#include "finding/suppress.h"

#include <string.h>

bool dh_suppressions_read(struct dh_suppressions *s, const char *path, struct dh_err *err)
{
    struct dh_suppression row;
    const char *why;
    *s = (struct dh_suppressions){0};
    if (!dh_file_read(path, &s->text, err))
        return false;
    struct dh_suppression_reader r = {.text = dh_cursor_of((const char *)s->text.at, s->text.n)};
    for (enum dh_suppression_answer a; (a = dh_suppression_next(&r, &row, &why)) != DH_SUPPRESSION_END;)
        if (a == DH_SUPPRESSION_READ)
            dh_vec_push(&s->rows, row);
        else if (!err->text)
            dh_err_set(err, "%s:%u: %s", path, row.line, why);
    return true;
}

void dh_suppressions_release(struct dh_suppressions *s)
{
    dh_bytes_release(&s->text);
    dh_vec_release(&s->rows);
}

/* ---- kinds of findings by type of suppression ---- */

static bool is_about(const struct dh_suppression *s, enum dh_finding_kind kind)
{
    static const enum dh_suppression_type types[] = {
#define DH_FINDING_KIND(id, name, title, suppressed) DH_SUPPRESS_##suppressed,
#include "event/finding_kind.def"
#undef DH_FINDING_KIND
    };
    enum dh_suppression_type type = s->type == DH_SUPPRESS_RACE_TOP ? DH_SUPPRESS_RACE : s->type;
    return type == DH_SUPPRESS_CALLED_FROM_LIB || (kind < DH_FINDING_KIND_COUNT && types[kind] == type);
}

/* ---- matching ---- */

static bool matches_frame(const struct dh_suppression *s, const struct dh_finding_frame *f)
{
    if (s->type == DH_SUPPRESS_CALLED_FROM_LIB)
        return dh_suppression_matches(s, f->module);
    return dh_suppression_matches(s, f->function) || dh_suppression_matches(s, f->file) ||
           dh_suppression_matches(s, f->module);
}

static bool matches_stack(const struct dh_suppression *s, const struct dh_finding_stack *stack)
{
    size_t n = s->type == DH_SUPPRESS_RACE_TOP && stack->frames.n ? 1 : stack->frames.n;
    for (size_t i = 0; i < n; i++)
        if (matches_frame(s, &stack->frames.at[i]))
            return true;
    return false;
}

static bool matches_access(const struct dh_suppression *s, const struct dh_finding_access *a)
{
    bool callee = s->type != DH_SUPPRESS_CALLED_FROM_LIB && dh_suppression_matches(s, a->callee);
    return callee || matches_stack(s, &a->stack);
}

static bool has_wide_scope(const struct dh_suppression *s)
{
    return s->type != DH_SUPPRESS_RACE_TOP && s->type != DH_SUPPRESS_CALLED_FROM_LIB;
}

/* "struct account.balance" matches as a whole and by its field "balance", not by its type. */
static bool matches_variable(const struct dh_suppression *s, const char *variable)
{
    const char *dot = strrchr(variable, '.');
    return dh_suppression_matches(s, variable) || (dot && dh_suppression_matches(s, dot + 1));
}

/* A finding may have several variables or locks: "back, front". */
static bool matches_names(const struct dh_suppression *s, const struct dh_finding *f)
{
    for (size_t i = 0; i < f->accesses.n; i++) {
        const struct dh_finding_access *a = &f->accesses.at[i];
        if ((a->object[0] || f->variable[0] == '{') && matches_variable(s, a->object[0] ? a->object : a->variable))
            return true;
    }
    return matches_variable(s, f->variable);
}

static bool matches(const struct dh_suppression *s, const struct dh_finding *f)
{
    if (!is_about(s, f->kind))
        return false;
    for (size_t i = 0; i < f->accesses.n; i++)
        if (matches_access(s, &f->accesses.at[i]))
            return true;
    if (!has_wide_scope(s))
        return false;
    for (size_t i = 0; i < f->threads.n; i++)
        if (matches_stack(s, &f->threads.at[i].created))
            return true;
    return matches_names(s, f);
}

const struct dh_suppression *dh_suppressions_find(const struct dh_suppressions *s, const struct dh_finding *f)
{
    for (size_t i = 0; i < s->rows.n; i++)
        if (matches(&s->rows.at[i], f))
            return &s->rows.at[i];
    return NULL;
}
