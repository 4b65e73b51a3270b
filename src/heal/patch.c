#include "heal/patch.h"

#include "base/alloc.h"
#include "host/file.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 3 };

/* Lines to be put before others; a source is only added to. */
struct addition {
    unsigned before; /* line, from 1 */
    char *text;
};

struct source {
    char *path;
    DH_VEC(char *) lines;
    DH_VEC(struct addition) additions; /* in order of `before` */
};

/* From the first access to the last, and on until braces are even. */
struct range {
    const char *function;
    unsigned first, last;
    bool needed; /* else it is left as it is when it is not simple */
};

static const char *text_of(const struct dh_draft *d, uint32_t offset)
{
    return dh_site_string(d->sites, offset);
}

/* ---- sources ---- */

static bool read_source(struct source *s, const char *path)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    bool ok = dh_file_exists(path) && dh_file_read(path, &b, &ignored);
    dh_err_release(&ignored);
    if (!ok)
        return false;
    s->path = dh_strdup(path);
    char *text = dh_format("%.*s", (int)b.n, (const char *)b.at), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && (rest || *line);)
        dh_vec_push(&s->lines, dh_strdup(line));
    free(text);
    dh_bytes_release(&b);
    return true;
}

static void release_source(struct source *s)
{
    for (size_t i = 0; i < s->lines.n; i++)
        free(s->lines.at[i]);
    for (size_t i = 0; i < s->additions.n; i++)
        free(s->additions.at[i].text);
    dh_vec_release(&s->lines);
    dh_vec_release(&s->additions);
    free(s->path);
}

static void add_line(struct source *s, unsigned before, char *text)
{
    struct addition a = {before, text};
    dh_vec_push(&s->additions, a);
    for (size_t i = s->additions.n - 1; i && s->additions.at[i - 1].before > before; i--) {
        s->additions.at[i] = s->additions.at[i - 1];
        s->additions.at[i - 1] = a;
    }
}

/* ---- accesses to guard ---- */

static bool is_of(const struct dh_draft *d, const struct dh_draft_group *g, const struct dh_site *s)
{
    const char *name = text_of(d, s->variable);
    if (dh_op_info(s->op)->group != DH_GROUP_ACCESS)
        return false;
    for (size_t i = 0; i < g->variables.n; i++)
        if (strcmp(g->variables.at[i], name) == 0)
            return true;
    return false;
}

/* Whether it must be guarded: the policy has a section in the function, it writes, or a finding names it. */
static bool matters(const struct dh_draft *d, size_t group, const char *function)
{
    const struct dh_draft_group *g = &d->groups.at[group];
    for (size_t i = 0; i < g->functions.n; i++)
        if (strcmp(g->functions.at[i], function) == 0)
            return true;
    for (uint32_t i = 0; i < d->sites->n_sites; i++) {
        const struct dh_site *s = &d->sites->sites[i];
        if (strcmp(text_of(d, s->function), function) != 0)
            continue;
        if (is_of(d, g, s) && s->op == DH_OP_WRITE)
            return true;
        for (size_t k = 0; k < d->sections.n; k++)
            if (d->sections.at[k].group == group && strcmp(d->sections.at[k].entry, text_of(d, s->name)) == 0)
                return true;
    }
    return false;
}

typedef DH_VEC(struct range) range_vec;

/* NULL, or why not. */
static const char *find_ranges(const struct dh_draft *d, size_t group, range_vec *out, const char **file)
{
    *file = NULL;
    for (uint32_t i = 0; i < d->sites->n_sites; i++) {
        const struct dh_site *s = &d->sites->sites[i];
        const char *function = text_of(d, s->function);
        if (!is_of(d, &d->groups.at[group], s) || !s->line)
            continue;
        if (*file && strcmp(*file, text_of(d, s->file)) != 0)
            return "it is accessed in several files";
        *file = text_of(d, s->file);
        size_t k = 0;
        while (k < out->n && strcmp(out->at[k].function, function) != 0)
            k++;
        if (k == out->n) {
            struct range fresh = {function, s->line, s->line, matters(d, group, function)};
            dh_vec_push(out, fresh);
        }
        out->at[k].first = s->line < out->at[k].first ? s->line : out->at[k].first;
        out->at[k].last = s->line > out->at[k].last ? s->line : out->at[k].last;
    }
    return *file ? NULL : "nothing is known of its lines";
}

/* A group that lines around accesses cannot heal. */
static const char *find_reach(const struct dh_draft *d, size_t group)
{
    if (d->groups.at[group].means != DH_HEAL_LOCK)
        return "no lock would mend it";
    if (d->groups.at[group].of_views)
        return "several variables belong together, and in which functions is not known";
    for (size_t i = 0; i < d->sections.n; i++)
        if (d->sections.at[i].group == group && d->sections.at[i].whole &&
            (d->sections.at[i].spans || !d->sections.at[i].optional))
            return "its parts lie in several functions";
    return NULL;
}

/* ---- whether lines can be added around it ---- */

static int braces(const char *line)
{
    int n = 0;
    for (; *line; line++)
        n += *line == '{' ? 1 : *line == '}' ? -1 : 0;
    return n;
}

static bool has_word(const char *line, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = line; (at = strstr(at, word)); at += n) {
        bool begins = at == line || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at[-1]);
        if (begins && (!at[n] || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at[n])))
            return true;
    }
    return false;
}

static bool leaves(const char *line)
{
    static const char *const words[] = {"return", "goto", "break", "continue", "throw", "exit", "else"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(line, words[i]))
            return true;
    return false;
}

/* A statement that spans lines leaves no place for a line of its own. */
static bool ends_statement(const char *line)
{
    size_t n = strlen(line);
    while (n && (line[n - 1] == ' ' || line[n - 1] == '\t' || line[n - 1] == '\r'))
        n--;
    return !n || strchr(";{}", line[n - 1]) || strstr(line, "*/") || line[strspn(line, " \t")] == '#';
}

/* Grows the range to whole statements; NULL, or why it cannot be done. */
static const char *settle(const struct source *s, struct range *r)
{
    int open = 0;
    for (unsigned i = r->first; i <= s->lines.n; i++) {
        const char *line = s->lines.at[i - 1];
        if (leaves(line))
            return "there is a way out in between";
        open += braces(line);
        if (open < 0)
            return "it reaches out of a block";
        if (i >= r->last && !open && ends_statement(line)) {
            r->last = i;
            return r->first > 1 && !ends_statement(s->lines.at[r->first - 2]) ? "it hangs on the line before" : NULL;
        }
    }
    return "its end is not found";
}

/* A wait under the new mutex may be for a thread that needs it; acquiring another lock under it may make a cycle. */
static const char *find_calls(const struct dh_draft *d, const struct source *s, const range_vec *all,
                              const struct range *r)
{
    for (uint32_t i = 0; i < d->sites->n_sites; i++) {
        const struct dh_site *at = &d->sites->sites[i];
        bool here = at->line >= r->first && at->line <= r->last && !strcmp(text_of(d, at->function), r->function);
        if (here && (at->op == DH_OP_COND_WAIT || at->op == DH_OP_BARRIER_WAIT || at->op == DH_OP_SEM_WAIT ||
                     at->op == DH_OP_THREAD_JOIN))
            return "it waits in between";
        if (here && (at->op == DH_OP_LOCK || at->op == DH_OP_RDLOCK))
            return "it takes a lock in between";
    }
    for (unsigned line = r->first; line <= r->last && line <= s->lines.n; line++)
        for (size_t k = 0; k < all->n; k++)
            if (has_word(s->lines.at[line - 1], all->at[k].function))
                return "it calls what would take the same lock";
    return NULL;
}

/* ---- the additions ---- */

static unsigned after_includes(const struct source *s, bool *pthread)
{
    unsigned line = 1;
    *pthread = false;
    for (unsigned i = 0; i < s->lines.n; i++)
        if (dh_starts_with(s->lines.at[i], "#include")) {
            line = i + 2;
            *pthread |= strstr(s->lines.at[i], "pthread.h") != NULL;
        }
    return line;
}

static const char *guard(const struct dh_draft *d, struct source *s, const struct dh_draft_group *g, range_vec *ranges)
{
    for (size_t i = 0; i < ranges->n;) {
        struct range *r = &ranges->at[i];
        const char *why = r->last <= s->lines.n ? settle(s, r) : "the source is another one";
        if (!why)
            why = find_calls(d, s, ranges, r);
        if (why && r->needed)
            return why;
        if (!why)
            i++;
        else
            *r = ranges->at[--ranges->n];
    }
    bool pthread;
    unsigned top = after_includes(s, &pthread);
    if (!pthread)
        add_line(s, top, dh_strdup("#include <pthread.h>"));
    add_line(s, top, dh_strdup(""));
    add_line(s, top, dh_format("static pthread_mutex_t %s_lock = PTHREAD_MUTEX_INITIALIZER;", g->name));
    for (size_t i = 0; i < ranges->n; i++) {
        const char *line = s->lines.at[ranges->at[i].first - 1];
        int indent = (int)strspn(line, " \t");
        add_line(s, ranges->at[i].first, dh_format("%.*spthread_mutex_lock(&%s_lock);", indent, line, g->name));
        add_line(s, ranges->at[i].last + 1, dh_format("%.*spthread_mutex_unlock(&%s_lock);", indent, line, g->name));
    }
    return NULL;
}

/* ---- as a diff ---- */

static void put_hunk(struct dh_str *out, const struct source *s, size_t from, size_t to)
{
    unsigned first = s->additions.at[from].before, last = s->additions.at[to - 1].before;
    unsigned begin = first > CONTEXT ? first - CONTEXT : 1;
    unsigned end = last + CONTEXT - 1 < s->lines.n ? last + CONTEXT - 1 : (unsigned)s->lines.n;
    dh_str_addf(out, "@@ -%u,%u +%u,%u @@\n", begin, end - begin + 1, begin + (unsigned)from,
                end - begin + 1 + (unsigned)(to - from));
    size_t k = from;
    for (unsigned line = begin; line <= end + 1; line++) {
        for (; k < to && s->additions.at[k].before == line; k++)
            dh_str_addf(out, "+%s\n", s->additions.at[k].text);
        if (line <= end)
            dh_str_addf(out, " %s\n", s->lines.at[line - 1]);
    }
}

static void put_diff(struct dh_str *out, const struct source *s)
{
    dh_str_addf(out, "--- %s\n+++ %s\n", s->path, s->path);
    for (size_t from = 0, to; from < s->additions.n; from = to) {
        for (to = from + 1;
             to < s->additions.n && s->additions.at[to].before <= s->additions.at[to - 1].before + 2 * CONTEXT; to++)
            ;
        put_hunk(out, s, from, to);
    }
}

/* One file may have several groups: then its additions come together. */
static struct source *source_of(struct source *all, size_t *n, const char *path)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(all[i].path, path) == 0)
            return &all[i];
    return read_source(&all[*n], path) ? &all[(*n)++] : NULL;
}

char *dh_patch_make(const struct dh_draft *d, char **why_not)
{
    struct dh_str out = {0}, left = {0};
    struct source *all = dh_xcalloc(d->groups.n + 1, sizeof *all);
    size_t n = 0;
    for (size_t g = 0; g < d->groups.n; g++) {
        range_vec ranges = {0};
        const char *file = NULL, *why = find_reach(d, g);
        if (!why)
            why = find_ranges(d, g, &ranges, &file);
        struct source *s = why ? NULL : source_of(all, &n, file);
        if (!why)
            why = s ? guard(d, s, &d->groups.at[g], &ranges) : "its source is not here";
        if (why)
            dh_str_addf(&left, "%s: %s\n", d->groups.at[g].name, why);
        dh_vec_release(&ranges);
    }
    for (size_t i = 0; i < n; i++) {
        if (all[i].additions.n)
            put_diff(&out, &all[i]);
        release_source(&all[i]);
    }
    free(all);
    *why_not = dh_str_take(&left);
    char *diff = dh_str_take(&out);
    return diff ? diff : dh_strdup("");
}
