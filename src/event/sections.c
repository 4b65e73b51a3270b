#include "event/sections.h"

struct reader {
    struct dh_sections *s;
    const char *at, *end;
    uint32_t line, column;
    /* the present word */
    const char *word; /* NULL: a mark, or the end */
    char mark;        /* { } ; | , or 0 at the end */
    bool quoted;
    uint32_t word_line, word_column;
    char *store; /* words without their quotes */
    struct dh_sections_error *error;
    bool failed;
    struct {
        bool vars, entry, end;
    } has;
};

/* ---- text ---- */

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static size_t length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

static void add(struct dh_sections_error *e, const char *text)
{
    size_t n = length(e->text);
    /* What a foreign file holds must not break the line that tells of it. */
    for (; *text && n + 1 < sizeof e->text; text++)
        e->text[n++] = *text >= ' ' && *text < 0x7F ? *text : '?';
    e->text[n] = 0;
}

static void fail_at(struct reader *r, uint32_t line, uint32_t column, const char *a, const char *b, const char *c)
{
    const char *parts[] = {a, b, c};
    if (r->failed)
        return;
    r->failed = true;
    *r->error = (struct dh_sections_error){.line = line, .column = column};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        add(r->error, parts[i]);
}

static void fail(struct reader *r, const char *a, const char *b, const char *c)
{
    fail_at(r, r->word_line, r->word_column, a, b, c);
}

/* Says what stands there instead. */
static void fail_expected(struct reader *r, const char *expected)
{
    char mark[] = {r->mark, 0};
    if (r->failed)
        return;
    fail(r, "expected ", expected, ", found ");
    add(r->error, r->word ? "'" : r->mark ? "'" : "the end of the file");
    add(r->error, r->word ? r->word : mark);
    if (r->word || r->mark)
        add(r->error, "'");
}

/* ---- words ---- */

static char step(struct reader *r)
{
    char c = *r->at++;
    if (c == '\n')
        r->line++, r->column = 1;
    else
        r->column++;
    return c;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_mark(char c)
{
    return c == '{' || c == '}' || c == ';' || c == '|' || c == ',';
}

static bool comes(const struct reader *r, const char *two)
{
    return r->end - r->at >= 2 && r->at[0] == two[0] && r->at[1] == two[1];
}

/* Comments begin where a word could: the # of a stable name is part of it. */
static void skip(struct reader *r)
{
    while (r->at < r->end) {
        if (is_blank(*r->at))
            step(r);
        else if (*r->at == '#' || comes(r, "//"))
            while (r->at < r->end && *r->at != '\n')
                step(r);
        else
            return;
    }
}

static void read_quoted(struct reader *r)
{
    step(r);
    while (r->at < r->end && *r->at != '"' && *r->at != '\n') {
        if (*r->at == '\\' && r->end - r->at >= 2 && r->at[1] != '\n')
            step(r);
        char c = step(r);
        *r->store++ = c ? c : ' ';
    }
    if (r->at < r->end && *r->at == '"')
        step(r);
    else
        fail(r, "the quotation that begins here is not closed; expected '\"' before the end of the line", "", "");
}

static void read_bare(struct reader *r)
{
    while (r->at < r->end && !is_blank(*r->at) && !is_mark(*r->at) && *r->at != '"') {
        char c = step(r);
        *r->store++ = c ? c : ' ';
    }
}

static void next(struct reader *r)
{
    skip(r);
    r->word = NULL;
    r->mark = 0;
    r->quoted = false;
    r->word_line = r->line;
    r->word_column = r->column;
    if (r->at == r->end)
        return;
    if (is_mark(*r->at)) {
        r->mark = step(r);
        return;
    }
    r->word = r->store;
    r->quoted = *r->at == '"';
    if (r->quoted)
        read_quoted(r);
    else
        read_bare(r);
    *r->store++ = 0;
}

static bool is_word(const struct reader *r, const char *word)
{
    return r->word && !r->quoted && same(r->word, word);
}

/* Takes the present word, whatever it says. */
static const char *take_text(struct reader *r, const char *expected)
{
    const char *text = r->word;
    if (!text || !*text) {
        fail_expected(r, expected);
        return "";
    }
    next(r);
    return text;
}

static void take_mark(struct reader *r, char mark, const char *expected)
{
    if (r->mark != mark)
        fail_expected(r, expected);
    else
        next(r);
}

/* ---- what words mean ---- */

static uint32_t number_of(const char **list, uint32_t *n, const char *text)
{
    for (uint32_t i = 0; i < *n; i++)
        if (same(list[i], text))
            return i;
    list[*n] = text;
    return (*n)++;
}

static bool find_section(const struct dh_sections *s, const char *name, uint32_t *out)
{
    for (uint32_t i = 0; i < s->n_sections; i++)
        if (same(s->sections[i].name, name)) {
            *out = i;
            return true;
        }
    return false;
}

/* What a clause begins with: a list that runs into it lacks its ';'. */
static const char *const clauses[] = {"vars", "entry", "end", "exit"};

static bool is_clause(const char *word)
{
    for (unsigned i = 0; i < sizeof clauses / sizeof *clauses; i++)
        if (same(word, clauses[i]))
            return true;
    return false;
}

static void read_vars(struct reader *r, uint32_t section)
{
    struct dh_sections *s = r->s;
    do {
        if (r->word && !r->quoted && is_clause(r->word))
            fail_expected(r, "',' or ';' behind the variables");
        uint32_t line = r->word_line;
        const char *name = take_text(r, "the name of a variable");
        if (r->failed)
            return;
        s->variables[s->n_variables++] =
            (struct dh_section_variable){section, number_of(s->names, &s->n_names, name), line};
        if (r->mark == ',')
            next(r);
    } while (r->mark != ';' && !r->failed);
    next(r);
    r->has.vars = true;
}

static unsigned read_allow(struct reader *r)
{
    unsigned allow = 0;
    if (!is_word(r, "allow"))
        return 0;
    do {
        next(r); /* `allow`, | or , */
        if (is_word(r, "R"))
            allow |= DH_ALLOW_READ;
        else if (is_word(r, "W"))
            allow |= DH_ALLOW_WRITE;
        else
            fail_expected(r, "R or W behind 'allow'");
        if (!r->failed)
            next(r);
    } while (!r->failed && (r->mark == '|' || r->mark == ','));
    return allow;
}

static void read_point(struct reader *r, uint32_t section, enum dh_section_role role)
{
    struct dh_sections *s = r->s;
    struct dh_section_point p = {.section = section, .role = (uint8_t)role, .line = r->word_line};
    const char *site = take_text(r, "a site: its stable name, or FILE:LINE:R or W");
    if (r->failed)
        return;
    p.site = number_of(s->sites, &s->n_sites, site);
    if (role == DH_SECTION_END)
        p.allow = (uint8_t)read_allow(r);
    take_mark(r, ';', role == DH_SECTION_END ? "';' or 'allow' behind the site" : "';' behind the site");
    if (role == DH_SECTION_ENTRY && r->has.entry)
        fail(r, "a second entry; a section has one entry and any number of ends", "", "");
    r->has.entry |= role == DH_SECTION_ENTRY;
    r->has.end |= role == DH_SECTION_END;
    s->points[s->n_points++] = p;
}

static void read_clause(struct reader *r, uint32_t section)
{
    static const char *const words[] = {
        [DH_SECTION_ENTRY] = "entry", [DH_SECTION_END] = "end", [DH_SECTION_EXIT] = "exit"};
    for (int i = 0; i < DH_SECTION_ROLES; i++)
        if (is_word(r, words[i])) {
            next(r);
            read_point(r, section, (enum dh_section_role)i);
            return;
        }
    if (is_word(r, "vars")) {
        next(r);
        read_vars(r, section);
    } else {
        fail_expected(r, "vars, entry, end, exit or '}'");
    }
}

static void read_section(struct reader *r)
{
    struct dh_sections *s = r->s;
    uint32_t line = r->word_line, column = r->word_column, other;
    next(r);
    struct dh_section section = {.line = line};
    line = r->word_line, column = r->word_column;
    section.name = take_text(r, "the name of the section");
    if (!r->failed && find_section(s, section.name, &other))
        fail_at(r, line, column, "a second section '", section.name, "'; expected a name of its own");
    take_mark(r, '{', "'{' behind the name of the section");
    r->has.vars = r->has.entry = r->has.end = false;
    uint32_t index = s->n_sections;
    s->sections[s->n_sections++] = section;
    while (!r->failed && r->mark != '}')
        read_clause(r, index);
    const char *missing = !r->has.vars ? "'vars'" : !r->has.entry ? "'entry'" : !r->has.end ? "'end'" : NULL;
    if (!r->failed && missing)
        fail(r, "the section ends here; expected ", missing, " in it");
    if (!r->failed)
        next(r);
}

static uint8_t read_means(struct reader *r)
{
    static const char *const means[] = {
        [DH_HEAL_LOCK] = "lock", [DH_HEAL_SCHEDULE] = "schedule", [DH_HEAL_ORDER] = "order"};
    for (uint8_t i = 0; i < DH_HEAL_MEANS; i++)
        if (is_word(r, means[i])) {
            next(r);
            return i;
        }
    fail_expected(r, "lock, schedule or order");
    return 0;
}

static void read_heal(struct reader *r)
{
    struct dh_sections *s = r->s;
    struct dh_heal h = {.line = r->word_line};
    next(r);
    uint32_t line = r->word_line, column = r->word_column;
    const char *name = take_text(r, "the name of a section");
    if (!r->failed && !find_section(s, name, &h.section))
        fail_at(r, line, column, "no section '", name, "'; expected one that stands above");
    if (!is_word(r, "by"))
        fail_expected(r, "'by' and lock, schedule or order");
    else
        next(r);
    h.means = r->failed ? 0 : read_means(r);
    if (is_word(r, "group")) {
        next(r);
        h.group = take_text(r, "the name of the group");
    }
    if (is_word(r, "because")) {
        next(r);
        h.because = take_text(r, "the id of a finding");
    }
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
    fail_at(r, 1, 1, "there is no memory to read it", "", "");
    return false;
}

bool dh_sections_read(struct dh_sections *s, const char *text, size_t n, void *(*allocate)(size_t),
                      struct dh_sections_error *e)
{
    struct reader r = {.s = s, .at = text, .end = text + n, .line = 1, .column = 1, .error = e};
    *s = (struct dh_sections){0};
    if (!make_room(&r, text, n, allocate))
        return false;
    next(&r);
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
    p->put(p->arg, text, length(text));
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
