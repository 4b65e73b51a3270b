#include "trace/rules.h"

#include "base/alloc.h"
#include "base/reader.h"
#include "base/str.h"
#include "base/vec.h"
#include "host/file.h"

#include <fnmatch.h>
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

static bool read_rule(struct dh_cursor *line, struct rule *out, struct dh_expected *wrong)
{
    struct dh_span word;
    dh_cursor_take_word(line, &word);
    out->skip = dh_span_is(word, "skip");
    if (!out->skip && !dh_span_is(word, "record"))
        return dh_cursor_fail(line, word, "'skip' or 'record'", wrong);
    dh_cursor_take_word(line, &word);
    int about = dh_span_which(word, abouts, ABOUTS);
    if (about < 0)
        return dh_cursor_fail(line, word, "'file', 'function', 'type' or 'field'", wrong);
    out->about = (enum about)about;
    dh_cursor_skip_space(line);
    struct dh_span pattern = dh_cursor_rest(line);
    if (!pattern.n || dh_span_find(pattern, 0) < pattern.n)
        return dh_cursor_fail(line, pattern, "a pattern", wrong);
    out->pattern = dh_strndup(pattern.at, pattern.n);
    return true;
}

static bool read_line(struct dh_rules *rules, struct dh_cursor *line, struct dh_expected *wrong)
{
    struct rule rule = {0};
    dh_cursor_skip_space(line);
    dh_cursor_trim(line);
    if (dh_cursor_is_end(line) || *line->at == '#')
        return true;
    if (!read_rule(line, &rule, wrong))
        return false;
    dh_vec_push(&rules->all, rule);
    return true;
}

struct dh_rules *dh_rules_parse(const char *name, const char *text, size_t n, struct dh_err *err)
{
    struct dh_rules *rules = DH_NEW(struct dh_rules);
    struct dh_cursor all = dh_cursor_of(text, n), line;
    struct dh_expected wrong = {0};
    while (dh_cursor_next_line(&all, &line))
        if (!read_line(rules, &line, &wrong)) {
            char shown[48];
            dh_err_set(err, "%s:%u: expected %s, not '%s'", name, wrong.line, wrong.what,
                       wrong.found.n ? dh_span_show(wrong.found, shown, sizeof shown) : "nothing");
            dh_rules_free(rules);
            return NULL;
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

/* The last rule that matches decides; without one it is recorded. */
static bool skips(const struct dh_rules *r, const struct dh_site_table *table, const struct dh_site *site)
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
    struct dh_rules_filter *f = DH_NEW(struct dh_rules_filter);
    f->rules = rules;
    f->host = *host;
    return f;
}

static bool decide(const struct dh_rules_filter *f, uint32_t place)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = f->host.site ? f->host.site(f->host.arg, place, &t) : NULL;
    return !s || !skips(f->rules, t, s);
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
