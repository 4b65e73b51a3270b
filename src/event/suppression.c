#include "event/suppression.h"

static const char *const types[DH_SUPPRESS_TYPES] = {
    [DH_SUPPRESS_RACE] = "race",
    [DH_SUPPRESS_RACE_TOP] = "race_top",
    [DH_SUPPRESS_THREAD] = "thread",
    [DH_SUPPRESS_MUTEX] = "mutex",
    [DH_SUPPRESS_DEADLOCK] = "deadlock",
    [DH_SUPPRESS_SIGNAL] = "signal",
    [DH_SUPPRESS_CALLED_FROM_LIB] = "called_from_lib",
    [DH_SUPPRESS_ANNOTATION] = "annotation",
    [DH_SUPPRESS_VIEW] = "view",
    [DH_SUPPRESS_ATOMICITY] = "atomicity",
};

const char *dh_suppression_type_name(enum dh_suppression_type type)
{
    return type < DH_SUPPRESS_TYPES ? types[type] : "";
}

static bool read_line(struct dh_cursor *line, struct dh_suppression *out, const char **why)
{
    struct dh_span type = dh_cursor_take_until(line, ':');
    if (!dh_cursor_take_literal(line, ":")) {
        *why = "no ':'; write type:pattern";
        return false;
    }
    struct dh_span pattern = dh_cursor_rest(line);
    out->pattern = pattern.at;
    out->n = pattern.n;
    int which = dh_span_which(type, types, DH_SUPPRESS_TYPES);
    if (which < 0) {
        *why = "unknown type; there are race, race_top, thread, mutex, deadlock, signal, called_from_lib, annotation, "
               "view, atomicity";
        return false;
    }
    out->type = (enum dh_suppression_type)which;
    *why = "nothing behind the ':'";
    return out->n > 0;
}

enum dh_suppression_answer dh_suppression_next(struct dh_suppression_reader *r, struct dh_suppression *out,
                                               const char **why)
{
    struct dh_cursor line;
    while (dh_cursor_next_line(&r->text, &line)) {
        out->line = line.line;
        dh_cursor_skip_space(&line);
        dh_cursor_trim(&line);
        if (dh_cursor_is_end(&line) || *line.at == '#')
            continue;
        if (!read_line(&line, out, why))
            return DH_SUPPRESSION_MALFORMED;
        out->index = r->index++;
        return DH_SUPPRESSION_READ;
    }
    return DH_SUPPRESSION_END;
}

/* Whole against whole, * for anything: on a mismatch the last * takes one letter more. */
static bool glob(const char *p, const char *p_end, const char *text, bool open_end)
{
    const char *star = NULL, *back = NULL;
    for (;;) {
        if (p == p_end && (open_end || !*text))
            return true;
        if (p < p_end && *p == '*') {
            star = ++p;
            back = text;
        } else if (p < p_end && *text && *p == *text) {
            p++, text++;
        } else if (star && *back) {
            p = star;
            text = ++back;
        } else {
            return false;
        }
    }
}

bool dh_suppression_matches(const struct dh_suppression *s, const char *text)
{
    const char *p = s->pattern, *end = p + s->n;
    bool from_start = *p == '^', to_end = s->n > 1 && end[-1] == '$';
    if (!text || !*text)
        return false;
    p += from_start;
    end -= to_end;
    for (; *text; text++)
        if (glob(p, end, text, !to_end))
            return true;
        else if (from_start)
            return false;
    return false;
}
