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

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word(const char *word, const char *at, size_t n)
{
    while (n && *word && *word == *at)
        word++, at++, n--;
    return !n && !*word;
}

static bool read_line(const char *at, const char *end, struct dh_suppression *out, const char **why)
{
    const char *colon = at;
    while (colon < end && *colon != ':')
        colon++;
    if (colon == end) {
        *why = "no ':'; write type:pattern";
        return false;
    }
    out->pattern = colon + 1;
    out->n = (size_t)(end - out->pattern);
    for (int i = 0; i < DH_SUPPRESS_TYPES; i++)
        if (is_word(types[i], at, (size_t)(colon - at))) {
            out->type = (enum dh_suppression_type)i;
            *why = "nothing behind the ':'";
            return out->n > 0;
        }
    *why = "unknown type; there are race, race_top, thread, mutex, deadlock, signal, called_from_lib, annotation, "
           "view, atomicity";
    return false;
}

enum dh_suppression_answer dh_suppression_next(struct dh_suppression_reader *r, struct dh_suppression *out,
                                               const char **why)
{
    while (r->at < r->end) {
        const char *at = r->at, *end = at;
        while (end < r->end && *end != '\n')
            end++;
        r->at = end + (end < r->end);
        out->line = ++r->line;
        while (at < end && is_blank(*at))
            at++;
        while (end > at && is_blank(end[-1]))
            end--;
        if (at == end || *at == '#')
            continue;
        if (!read_line(at, end, out, why))
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
