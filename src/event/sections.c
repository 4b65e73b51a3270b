#include "event/sections.h"

#include "base/reader.h"

struct reader {
    struct dh_sections *s;
    struct dh_cursor c; /* after the present word */
    const char *word;   /* NULL: a mark, or the end */
    char mark;          /* { } ; | , or 0 at the end */
    bool quoted;
    uint32_t line, column; /* of the present word */
    char *store;           /* words without their quotes */
    struct dh_sections_error *error;
    bool failed;
    struct {
        bool vars, entry, end;
    } has;
};

/* ---- errors: the first one counts ---- */

#define FAIL_AT(r, at_line, at_column, ...)                                                                            \
    do {                                                                                                               \
        if (!(r)->failed) {                                                                                            \
            *(r)->error = (struct dh_sections_error){.line = at_line, .column = at_column};                            \
            DH_MESSAGE((r)->error->text, __VA_ARGS__);                                                                 \
            (r)->failed = true;                                                                                        \
        }                                                                                                              \
    } while (0)
#define FAIL(r, ...) FAIL_AT(r, (r)->line, (r)->column, __VA_ARGS__)

/* Says what stands there instead. */
static void fail_expected(struct reader *r, const char *expected)
{
    char mark[] = {r->mark, 0};
    if (r->word || r->mark)
        FAIL(r, "expected ", expected, ", found '", r->word ? r->word : mark, "'");
    else
        FAIL(r, "expected ", expected, ", found the end of the file");
}

/* ---- words ---- */

static bool is_blank(char c)
{
    return dh_is_space(c) || c == '\n';
}

static bool is_mark(char c)
{
    return c == '{' || c == '}' || c == ';' || c == '|' || c == ',';
}

/* Comments begin where a word could: the # of a stable name is part of it. */
static void skip_comments(struct dh_cursor *c)
{
    for (dh_cursor_skip_blank(c); dh_cursor_take_literal(c, "#") || dh_cursor_take_literal(c, "//");
         dh_cursor_skip_blank(c))
        dh_cursor_take_until(c, '\n');
}

static char *read_bare(struct dh_cursor *c, char *store)
{
    while (!dh_cursor_is_end(c) && !is_blank(*c->at) && !is_mark(*c->at) && *c->at != '"')
        *store++ = dh_cursor_step(c);
    return store;
}

static void read_word(struct reader *r)
{
    char *word = r->store;
    r->word = word;
    r->quoted = *r->c.at == '"';
    ptrdiff_t n = r->quoted ? dh_cursor_take_quoted(&r->c, word, NULL) : read_bare(&r->c, word) - word;
    if (n < 0) {
        FAIL(r, "the quotation that begins here is not closed; expected '\"' before the end of the line");
        n = 0;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        word[i] = word[i] ? word[i] : ' ';
    word[n] = 0;
    r->store += n + 1;
}

static void next_token(struct reader *r)
{
    skip_comments(&r->c);
    r->word = NULL;
    r->mark = 0;
    r->quoted = false;
    r->line = r->c.line;
    r->column = dh_cursor_column(&r->c);
    if (dh_cursor_is_end(&r->c))
        return;
    if (is_mark(*r->c.at))
        r->mark = dh_cursor_step(&r->c);
    else
        read_word(r);
}

static bool is_word(const struct reader *r, const char *word)
{
    return r->word && !r->quoted && dh_span_is(dh_span_of(r->word), word);
}

static bool take_word(struct reader *r, const char *word)
{
    bool is = is_word(r, word);
    if (is)
        next_token(r);
    return is;
}

/* Takes the word if it is one of these; -1: it is none. */
static int which_word(struct reader *r, const char *const *words, int n)
{
    int i = 0;
    while (i < n && !take_word(r, words[i]))
        i++;
    return i < n ? i : -1;
}

/* Takes the present word, whatever it says. */
static const char *take_text(struct reader *r, const char *expected)
{
    const char *text = r->word;
    if (!text || !*text) {
        fail_expected(r, expected);
        return "";
    }
    next_token(r);
    return text;
}

static void take_mark(struct reader *r, char mark, const char *expected)
{
    if (r->mark != mark)
        fail_expected(r, expected);
    else
        next_token(r);
}

/* ---- what words mean ---- */

static uint32_t number_of(const char **list, uint32_t *n, const char *text)
{
    for (uint32_t i = 0; i < *n; i++)
        if (dh_span_is(dh_span_of(list[i]), text))
            return i;
    list[*n] = text;
    return (*n)++;
}

static bool find_section(const struct dh_sections *s, const char *name, uint32_t *out)
{
    for (uint32_t i = 0; i < s->n_sections; i++)
        if (dh_span_is(dh_span_of(s->sections[i].name), name)) {
            *out = i;
            return true;
        }
    return false;
}

/* What a clause begins with: a list that runs into it lacks its ';'. */
static const char *const clauses[] = {"vars", "entry", "end", "exit"};

static bool is_clause(const char *word)
{
    return dh_span_which(dh_span_of(word), clauses, sizeof clauses / sizeof *clauses) >= 0;
}

static void read_vars(struct reader *r, uint32_t section)
{
    struct dh_sections *s = r->s;
    do {
        if (r->word && !r->quoted && is_clause(r->word))
            fail_expected(r, "',' or ';' behind the variables");
        uint32_t line = r->line;
        const char *name = take_text(r, "the name of a variable");
        if (r->failed)
            return;
        s->variables[s->n_variables++] =
            (struct dh_section_variable){section, number_of(s->names, &s->n_names, name), line};
        if (r->mark == ',')
            next_token(r);
    } while (r->mark != ';' && !r->failed);
    next_token(r);
    r->has.vars = true;
}

static unsigned read_allow(struct reader *r)
{
    unsigned allow = 0;
    if (!is_word(r, "allow"))
        return 0;
    do {
        next_token(r); /* `allow`, | or , */
        if (is_word(r, "R"))
            allow |= DH_ALLOW_READ;
        else if (is_word(r, "W"))
            allow |= DH_ALLOW_WRITE;
        else
            fail_expected(r, "R or W behind 'allow'");
        if (!r->failed)
            next_token(r);
    } while (!r->failed && (r->mark == '|' || r->mark == ','));
    return allow;
}

static void read_point(struct reader *r, uint32_t section, enum dh_section_role role)
{
    struct dh_sections *s = r->s;
    struct dh_section_point p = {.section = section, .role = (uint8_t)role, .line = r->line};
    const char *site = take_text(r, "a site: its stable name, or FILE:LINE:R or W");
    if (r->failed)
        return;
    p.site = number_of(s->sites, &s->n_sites, site);
    if (role == DH_SECTION_END)
        p.allow = (uint8_t)read_allow(r);
    take_mark(r, ';', role == DH_SECTION_END ? "';' or 'allow' behind the site" : "';' behind the site");
    if (role == DH_SECTION_ENTRY && r->has.entry)
        FAIL(r, "a second entry; a section has one entry and any number of ends");
    r->has.entry |= role == DH_SECTION_ENTRY;
    r->has.end |= role == DH_SECTION_END;
    s->points[s->n_points++] = p;
}

static void read_clause(struct reader *r, uint32_t section)
{
    static const char *const words[] = {
        [DH_SECTION_ENTRY] = "entry", [DH_SECTION_END] = "end", [DH_SECTION_EXIT] = "exit"};
    int role = which_word(r, words, DH_SECTION_ROLES);
    if (role >= 0)
        read_point(r, section, (enum dh_section_role)role);
    else if (take_word(r, "vars"))
        read_vars(r, section);
    else
        fail_expected(r, "vars, entry, end, exit or '}'");
}

static void read_section(struct reader *r)
{
    struct dh_sections *s = r->s;
    uint32_t line = r->line, column = r->column, other;
    next_token(r);
    struct dh_section section = {.line = line};
    line = r->line, column = r->column;
    section.name = take_text(r, "the name of the section");
    if (!r->failed && find_section(s, section.name, &other))
        FAIL_AT(r, line, column, "a second section '", section.name, "'; expected a name of its own");
    take_mark(r, '{', "'{' behind the name of the section");
    r->has.vars = r->has.entry = r->has.end = false;
    uint32_t index = s->n_sections;
    s->sections[s->n_sections++] = section;
    while (!r->failed && r->mark != '}')
        read_clause(r, index);
    const char *missing = !r->has.vars ? "'vars'" : !r->has.entry ? "'entry'" : !r->has.end ? "'end'" : NULL;
    if (!r->failed && missing)
        FAIL(r, "the section ends here; expected ", missing, " in it");
    if (!r->failed)
        next_token(r);
}

static uint8_t read_means(struct reader *r)
{
    static const char *const means[] = {
        [DH_HEAL_LOCK] = "lock", [DH_HEAL_SCHEDULE] = "schedule", [DH_HEAL_ORDER] = "order"};
    int i = which_word(r, means, DH_HEAL_MEANS);
    if (i < 0)
        fail_expected(r, "lock, schedule or order");
    return i < 0 ? 0 : (uint8_t)i;
}

static void read_heal(struct reader *r)
{
    struct dh_sections *s = r->s;
    struct dh_heal h = {.line = r->line};
    next_token(r);
    uint32_t line = r->line, column = r->column;
    const char *name = take_text(r, "the name of a section");
    if (!r->failed && !find_section(s, name, &h.section))
        FAIL_AT(r, line, column, "no section '", name, "'; expected one that stands above");
    if (!take_word(r, "by"))
        fail_expected(r, "'by' and lock, schedule or order");
    h.means = r->failed ? 0 : read_means(r);
    if (take_word(r, "group"))
        h.group = take_text(r, "the name of the group");
    if (take_word(r, "because"))
        h.because = take_text(r, "the id of a finding");
    take_mark(r, ';', "group, because or ';'");
    s->heals[s->n_heals++] = h;
}

/* No array can need more rows than there are words. */
static size_t count_words(const char *text, size_t n)
{
    size_t words = 1;
    for (size_t i = 0; i < n; i++)
        if (!is_blank(text[i]) && (i == 0 || is_blank(text[i - 1]) || is_mark(text[i - 1]) || is_mark(text[i]) ||
                                   text[i] == '"' || text[i - 1] == '"'))
            words++;
    return words;
}

static bool make_room(struct reader *r, const char *text, size_t n, void *(*allocate)(size_t))
{
    struct dh_sections *s = r->s;
    size_t words = count_words(text, n);
    s->sections = allocate(words * sizeof *s->sections);
    s->points = allocate(words * sizeof *s->points);
    s->variables = allocate(words * sizeof *s->variables);
    s->heals = allocate(words * sizeof *s->heals);
    s->sites = allocate(words * sizeof *s->sites);
    s->names = allocate(words * sizeof *s->names);
    r->store = allocate(n + words);
    if (s->sections && s->points && s->variables && s->heals && s->sites && s->names && r->store)
        return true;
    FAIL_AT(r, 1, 1, "there is no memory to read it");
    return false;
}

bool dh_sections_read(struct dh_sections *s, const char *text, size_t n, void *(*allocate)(size_t),
                      struct dh_sections_error *e)
{
    struct reader r = {.s = s, .c = dh_cursor_of(text, n), .error = e};
    *s = (struct dh_sections){0};
    if (!make_room(&r, text, n, allocate))
        return false;
    next_token(&r);
    while (!r.failed && (r.word || r.mark)) {
        if (is_word(&r, "section"))
            read_section(&r);
        else if (is_word(&r, "heal"))
            read_heal(&r);
        else
            fail_expected(&r, "section or heal");
    }
    return !r.failed;
}

/* ---- printing ---- */

struct printer {
    void (*put)(void *, const char *, size_t);
    void *arg;
};

static void put(const struct printer *p, const char *text)
{
    p->put(p->arg, text, dh_span_of(text).n);
}

static bool needs_quotes(const char *text)
{
    if (*text == '#' || (text[0] == '/' && text[1] == '/') || is_clause(text))
        return true;
    for (; *text; text++)
        if (is_blank(*text) || is_mark(*text) || *text == '"' || *text == '\\')
            return true;
    return false;
}

static void put_word(const struct printer *p, const char *text)
{
    if (!needs_quotes(text)) {
        put(p, text);
        return;
    }
    put(p, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            put(p, "\\");
        p->put(p->arg, text, 1);
    }
    put(p, "\"");
}

static void put_point(const struct printer *p, const struct dh_sections *s, const struct dh_section_point *point)
{
    static const char *const words[] = {
        [DH_SECTION_ENTRY] = "    entry ", [DH_SECTION_END] = "    end ", [DH_SECTION_EXIT] = "    exit "};
    static const char *const allow[] = {"", " allow R", " allow W", " allow R|W"};
    put(p, words[point->role]);
    put_word(p, s->sites[point->site]);
    put(p, allow[point->allow & 3]);
    put(p, ";\n");
}

static void put_section(const struct printer *p, const struct dh_sections *s, uint32_t section)
{
    bool first = true;
    put(p, "section ");
    put_word(p, s->sections[section].name);
    put(p, " {\n");
    for (uint32_t i = 0; i < s->n_variables; i++)
        if (s->variables[i].section == section) {
            put(p, first ? "    vars " : ", ");
            put_word(p, s->names[s->variables[i].variable]);
            first = false;
        }
    put(p, ";\n");
    for (uint32_t i = 0; i < s->n_points; i++)
        if (s->points[i].section == section)
            put_point(p, s, &s->points[i]);
    put(p, "}\n");
}

static void put_heal(const struct printer *p, const struct dh_sections *s, const struct dh_heal *h)
{
    static const char *const means[] = {
        [DH_HEAL_LOCK] = " by lock", [DH_HEAL_SCHEDULE] = " by schedule", [DH_HEAL_ORDER] = " by order"};
    put(p, "heal ");
    put_word(p, s->sections[h->section].name);
    put(p, means[h->means]);
    if (h->group) {
        put(p, " group ");
        put_word(p, h->group);
    }
    if (h->because) {
        put(p, " because ");
        put_word(p, h->because);
    }
    put(p, ";\n");
}

void dh_sections_print(const struct dh_sections *s, void (*put_text)(void *arg, const char *text, size_t n), void *arg)
{
    struct printer p = {put_text, arg};
    for (uint32_t i = 0; i < s->n_sections; i++)
        put_section(&p, s, i);
    for (uint32_t i = 0; i < s->n_heals; i++)
        put_heal(&p, s, &s->heals[i]);
}
