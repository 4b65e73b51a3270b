#include "trace/rules.h"

#include "base/str.h"
#include "base/vec.h"
#include "host/file.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum about { BY_FILE, BY_FUNCTION, BY_TYPE, BY_FIELD, ABOUTS };

static const char *const abouts[ABOUTS] = {
    [BY_FILE] = "file", [BY_FUNCTION] = "function", [BY_TYPE] = "type", [BY_FIELD] = "field"};

struct rule {
    bool skip;
    enum about about;
    char *pattern;
};

struct dh_rules {
    DH_VEC(struct rule) all;
};

/* ---- reading ---- */

struct reading {
    const char *name, *at, *end;
    unsigned line;
};

static bool expected(const struct reading *r, const char *what, const char *got, size_t n, struct dh_err *err)
{
    char shown[48];
    size_t i = 0;
    for (; i < n && i < sizeof shown - 1; i++)
        shown[i] = isprint((unsigned char)got[i]) ? got[i] : '?';
    shown[i] = 0;
    return dh_err_set(err, "%s:%u: expected %s, not '%s'", r->name, r->line, what, n ? shown : "nothing");
}

/* Up to the next space of the line. */
static size_t word(const char **at, const char *end)
{
    while (*at < end && isspace((unsigned char)**at))
        ++*at;
    size_t n = 0;
    while (*at + n < end && !isspace((unsigned char)(*at)[n]))
        n++;
    return n;
}

static bool is(const char *at, size_t n, const char *text)
{
    return strlen(text) == n && memcmp(at, text, n) == 0;
}

static bool read_rule(const struct reading *r, const char *at, const char *end, struct rule *out, struct dh_err *err)
{
    size_t n = word(&at, end);
    out->skip = is(at, n, "skip");
    if (!out->skip && !is(at, n, "record"))
        return expected(r, "'skip' or 'record'", at, n, err);
    at += n;
    n = word(&at, end);
    out->about = 0;
    while (out->about < ABOUTS && !is(at, n, abouts[out->about]))
        out->about++;
    if (out->about == ABOUTS)
        return expected(r, "'file', 'function', 'type' or 'field'", at, n, err);
    at += n;
    while (at < end && isspace((unsigned char)*at))
        at++;
    while (end > at && isspace((unsigned char)end[-1]))
        end--;
    if (at == end || memchr(at, 0, (size_t)(end - at)))
        return expected(r, "a pattern", at, (size_t)(end - at), err);
    struct dh_str s = {0};
    dh_str_add_n(&s, at, (size_t)(end - at));
    out->pattern = dh_str_take(&s);
    return true;
}

static bool read_line(struct dh_rules *rules, struct reading *r, const char *end, struct dh_err *err)
{
    const char *at = r->at;
    struct rule rule = {0};
    if (!word(&at, end) || *at == '#')
        return true;
    if (!read_rule(r, at, end, &rule, err))
        return false;
    dh_vec_push(&rules->all, rule);
    return true;
}

struct dh_rules *dh_rules_parse(const char *name, const char *text, size_t n, struct dh_err *err)
{
    struct dh_rules *rules = calloc(1, sizeof *rules);
    struct reading r = {.name = name, .at = text, .end = text + n};
    if (!rules)
        abort();
    while (r.at < r.end) {
        const char *end = memchr(r.at, '\n', (size_t)(r.end - r.at));
        r.line++;
        if (!read_line(rules, &r, end ? end : r.end, err)) {
            dh_rules_free(rules);
            return NULL;
        }
        r.at = end ? end + 1 : r.end;
    }
    return rules;
}

struct dh_rules *dh_rules_read(const char *path, struct dh_err *err)
{
    struct dh_bytes bytes;
    if (!dh_file_read(path, &bytes, err))
        return NULL;
    struct dh_rules *r = dh_rules_parse(path, (const char *)bytes.at, bytes.n, err);
    dh_bytes_release(&bytes);
    return r;
}

void dh_rules_free(struct dh_rules *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->all.n; i++)
        free(r->all.at[i].pattern);
    dh_vec_release(&r->all);
    free(r);
}

/* ---- matching ---- */

static bool matches(const char *pattern, const char *text)
{
    return text[0] && fnmatch(pattern, text, 0) == 0;
}

/* The whole path, or as many of its last parts as the pattern has. */
static bool file_matches(const char *pattern, const char *file)
{
    if (matches(pattern, file))
        return true;
    for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/'))
        if (matches(pattern, slash + 1))
            return true;
    return false;
}

static const char *without_keyword(const char *type)
{
    static const char *const keywords[] = {"struct ", "union ", "class ", "enum "};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (dh_starts_with(type, keywords[i]))
            return type + strlen(keywords[i]);
    return type;
}

/* What a field is of: "struct account" of "struct account.balance"; else the type of the value. */
static bool type_matches(const char *pattern, const char *variable, const char *type)
{
    const char *dot = strchr(variable, '.');
    char *of = dot ? dh_format("%.*s", (int)(dot - variable), variable) : dh_strdup(type);
    bool yes = matches(pattern, of) || matches(pattern, without_keyword(of));
    free(of);
    return yes;
}

static bool rule_matches(const struct rule *r, const struct dh_site_table *t, const struct dh_site *s)
{
    const char *variable = dh_site_string(t, s->variable);
    switch (r->about) {
    case BY_FILE:
        return file_matches(r->pattern, dh_site_string(t, s->file));
    case BY_FUNCTION:
        return matches(r->pattern, dh_site_string(t, s->function));
    case BY_TYPE:
        return type_matches(r->pattern, variable, dh_site_string(t, s->type));
    default:
        return matches(r->pattern, variable) || matches(r->pattern, without_keyword(variable)) ||
               matches(r->pattern, dh_site_string(t, s->field));
    }
}

bool dh_rules_skip(const struct dh_rules *r, const struct dh_site_table *table, const struct dh_site *site)
{
    for (size_t i = r->all.n; i-- > 0;)
        if (rule_matches(&r->all.at[i], table, site))
            return r->all.at[i].skip;
    return false;
}

/* ---- on a stream ---- */

enum decision { UNDECIDED, KEPT, SKIPPED };

struct dh_rules_filter {
    const struct dh_rules *rules;
    struct dh_run_host host;
    DH_VEC(uint8_t) decided; /* by place */
};

struct dh_rules_filter *dh_rules_filter_new(const struct dh_rules *rules, const struct dh_run_host *host)
{
    struct dh_rules_filter *f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->rules = rules;
    f->host = *host;
    return f;
}

static bool decide(const struct dh_rules_filter *f, uint32_t place)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = f->host.site ? f->host.site(f->host.arg, place, &t) : NULL;
    return !s || !dh_rules_skip(f->rules, t, s);
}

enum { PLACES_MOST = 1 << 26 };

bool dh_rules_keeps(struct dh_rules_filter *f, const struct dh_event *e)
{
    if (!f->rules || !f->rules->all.n || !dh_event_is_access(e) || e->site == DH_NO_PLACE)
        return true;
    if (e->site >= PLACES_MOST)
        return decide(f, e->site);
    while (f->decided.n <= e->site)
        dh_vec_push(&f->decided, UNDECIDED);
    uint8_t *d = &f->decided.at[e->site];
    if (*d == UNDECIDED)
        *d = decide(f, e->site) ? KEPT : SKIPPED;
    return *d == KEPT;
}

void dh_rules_filter_free(struct dh_rules_filter *f)
{
    if (!f)
        return;
    dh_vec_release(&f->decided);
    free(f);
}
