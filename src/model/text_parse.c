/* Parser of the text form. Two passes: declarations of functions and globals, then bodies. */
#include "model/text.h"
#include "model/text_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REGISTERS = 1 << 24 };

struct parser {
    struct dh_program *p;
    struct dh_err *err;
    const char *name, *at;
    unsigned line;
    bool bodies;          /* second pass */
    uint32_t n_functions; /* seen in this pass */
    uint32_t n_globals;
    uint32_t block;       /* number of the current block within its function, DH_NONE before the first */
    DH_VEC(char *) words; /* those of the line */
    DH_VEC(char) text;    /* their bytes */
    DH_VEC(size_t) starts;
};

static bool report_syntax(struct parser *s, const char *what, const char *word)
{
    return dh_err_set(s->err, "%s:%u: %s%s%s", s->name, s->line, what, word ? ": " : "", word ? word : "");
}

/* One word: up to a space outside quotes; quotes and backslashes are removed. */
static const char *read_word(struct parser *s, const char *at)
{
    bool quoted = false;
    dh_vec_push(&s->starts, s->text.n);
    for (; *at && *at != '\n' && (quoted || (*at != ' ' && *at != '\t')); at++) {
        if (*at == '"') {
            quoted = !quoted;
            continue;
        }
        char c = *at;
        if (c == '\\' && quoted && at[1]) {
            c = *++at;
            c = c == 'n' ? '\n' : c;
        }
        dh_vec_push(&s->text, c);
    }
    dh_vec_push(&s->text, '\0');
    return at;
}

static bool read_line(struct parser *s)
{
    if (!*s->at)
        return false;
    s->line++;
    s->text.n = s->starts.n = s->words.n = 0;
    const char *at = s->at;
    while (*at && *at != '\n') {
        at += strspn(at, " \t\r");
        if (*at == '#') {
            at += strcspn(at, "\n");
            break;
        }
        if (*at && *at != '\n')
            at = read_word(s, at);
    }
    s->at = *at ? at + 1 : at;
    for (size_t i = 0; i < s->starts.n; i++)
        dh_vec_push(&s->words, s->text.at + s->starts.at[i]);
    return true;
}

static bool parse_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text && !*end && !errno;
}

static bool parse_unsigned(const char *text, uint32_t *out)
{
    int64_t n;
    if (!parse_number(text, &n) || n < 0 || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

/* ---- registers and values ---- */
static bool grow_registers(struct parser *s, uint32_t r)
{
    if (r > MOST_REGISTERS)
        return false;
    while (s->p->functions.at[s->n_functions - 1].n_registers <= r)
        dh_build_register(s->p, DH_REG_DATA);
    return true;
}

/* "r12:p"; without a kind it stays what it is. */
static bool read_register(struct parser *s, const char *word, uint32_t *out)
{
    char digits[16];
    size_t n = strcspn(word + 1, ":");
    uint32_t kind;
    if (word[0] != 'r' || n >= sizeof digits)
        return false;
    memcpy(digits, word + 1, n);
    digits[n] = '\0';
    if (!parse_unsigned(digits, out) || !grow_registers(s, *out))
        return false;
    if (!word[1 + n])
        return true;
    if (!dh_text_word_find(dh_text_words_kinds, word + 2 + n, &kind))
        return false;
    s->p->registers.at[s->p->functions.at[s->n_functions - 1].registers + *out] = (uint8_t)kind;
    return true;
}

/* "name+8" or "name-8": names of globals never end so themselves. */
static bool read_global(struct parser *s, char *word, dh_value *out)
{
    uint32_t g = dh_program_find_global(s->p, word);
    int64_t add = 0;
    char *sign = word + strlen(word);
    while (g == DH_NONE && sign > word && *sign != '+' && *sign != '-')
        sign--;
    if (g == DH_NONE && sign > word && parse_number(*sign == '+' ? sign + 1 : sign, &add)) {
        *sign = '\0';
        g = dh_program_find_global(s->p, word);
    }
    if (g == DH_NONE)
        return false;
    *out = dh_build_constant(s->p, DH_CONST_GLOBAL, g, add);
    return true;
}

static bool read_value(struct parser *s, char *word, dh_value *out)
{
    int64_t n;
    uint32_t f;
    if (word[0] == '&')
        return read_global(s, word + 1, out);
    if (word[0] == '@') {
        f = dh_program_find_function(s->p, word + 1);
        *out = dh_build_constant(s->p, DH_CONST_FUNCTION, f, 0);
        return f != DH_NONE;
    }
    if (strcmp(word, "data") == 0 || strcmp(word, "unknown") == 0) {
        *out = dh_build_constant(s->p, word[0] == 'd' ? DH_CONST_DATA : DH_CONST_UNKNOWN, 0, 0);
        return true;
    }
    if (parse_number(word, &n)) {
        *out = dh_build_int(s->p, n);
        return true;
    }
    return read_register(s, word, out);
}

/* ---- key=value pairs ---- */
struct pair {
    const char *key;
    uint32_t *number; /* either */
    uint32_t *string; /* or */
};

/* False when no key fits. */
static bool read_pair(struct parser *s, char *word, const struct pair *pairs, bool *ok)
{
    char *equals = strchr(word, '=');
    if (!equals)
        return false;
    for (; pairs->key; pairs++)
        if (strncmp(pairs->key, word, (size_t)(equals - word)) == 0 && !pairs->key[equals - word]) {
            if (pairs->string)
                *pairs->string = dh_build_string(s->p, equals + 1);
            *ok = pairs->string || parse_unsigned(equals + 1, pairs->number);
            return true;
        }
    return false;
}

static bool read_extra(struct parser *s, const char *word, unsigned op, uint32_t *extra)
{
    const struct dh_text_extra *e = dh_text_extra(op);
    size_t n = e ? strlen(e->key) : 0;
    if (!e || strncmp(word, e->key, n) != 0 || word[n] != '=')
        return false;
    if (e->table)
        return dh_text_word_find(e->table, word + n + 1, extra);
    if (e->string)
        *extra = dh_build_string(s->p, word + n + 1);
    return e->string || parse_unsigned(word + n + 1, extra);
}

/* ---- lines ---- */
static bool read_initial(struct parser *s)
{
    uint32_t offset;
    dh_value v;
    if (!s->bodies)
        return true;
    if (s->words.n != 3 || !s->n_globals || !parse_unsigned(s->words.at[1], &offset) ||
        !read_value(s, s->words.at[2], &v))
        return report_syntax(s, "an initial value is `initial OFFSET VALUE`", NULL);
    dh_build_initial(s->p, s->n_globals - 1, offset, v);
    return true;
}

static bool read_global_line(struct parser *s)
{
    struct dh_global g = {0};
    uint32_t size = 0, flag;
    s->n_globals++;
    if (s->bodies)
        return true;
    if (s->words.n < 2)
        return report_syntax(s, "a global needs a name", NULL);
    g.name = dh_build_string(s->p, s->words.at[1]);
    const struct pair pairs[] = {{"size", &size, NULL},   {"source", NULL, &g.source}, {"type", NULL, &g.type},
                                 {"file", NULL, &g.file}, {"line", &g.line, NULL},     {0}};
    for (size_t i = 2; i < s->words.n; i++) {
        bool ok = true;
        if (dh_text_word_find(dh_text_words_global_flags, s->words.at[i], &flag))
            g.flags |= flag;
        else if (!read_pair(s, s->words.at[i], pairs, &ok) || !ok)
            return report_syntax(s, "no such property of a global", s->words.at[i]);
    }
    g.size = size;
    dh_build_global(s->p, &g);
    return true;
}

static bool read_root(struct parser *s)
{
    uint32_t kind, order = 0;
    if (!s->bodies)
        return true;
    uint32_t f = s->words.n > 2 ? dh_program_find_function(s->p, s->words.at[2] + 1) : DH_NONE;
    if (f == DH_NONE || !dh_text_word_find(dh_text_words_roots, s->words.at[1], &kind))
        return report_syntax(s, "a root is `root KIND @FUNCTION`", NULL);
    const struct pair pairs[] = {{"order", &order, NULL}, {0}};
    bool ok = true;
    if (s->words.n > 3 && (!read_pair(s, s->words.at[3], pairs, &ok) || !ok))
        return report_syntax(s, "no such property of a root", s->words.at[3]);
    dh_build_root(s->p, kind, f, order);
    return true;
}

static bool read_function_word(struct parser *s, struct dh_function *f, char *word)
{
    uint32_t flag;
    bool ok = true;
    const struct pair pairs[] = {{"source", NULL, &f->source},       {"file", NULL, &f->file}, {"line", &f->line, NULL},
                                 {"signature", &f->signature, NULL}, {"site", &f->site, NULL}, {0}};
    if (word[0] == 'r' && word[1] >= '0' && word[1] <= '9')
        f->n_params++;
    else if (dh_text_word_find(dh_text_words_function_flags, word, &flag))
        f->flags |= flag;
    else
        ok = read_pair(s, word, pairs, &ok) && ok;
    return ok;
}

static bool read_function(struct parser *s)
{
    struct dh_function f = {.site = DH_NO_SITE};
    uint32_t r;
    if (s->words.n < 2)
        return report_syntax(s, "a function needs a name", NULL);
    s->block = DH_NONE;
    if (s->bodies) {
        dh_build_body(s->p, s->n_functions++);
        for (size_t i = 2; i < s->words.n; i++)
            if (s->words.at[i][0] == 'r' && strchr("0123456789", s->words.at[i][1]) &&
                !read_register(s, s->words.at[i], &r))
                return report_syntax(s, "no such parameter", s->words.at[i]);
        return true;
    }
    f.name = dh_build_string(s->p, s->words.at[1]);
    for (size_t i = 2; i < s->words.n; i++)
        if (!read_function_word(s, &f, s->words.at[i]))
            return report_syntax(s, "no such property of a function", s->words.at[i]);
    s->n_functions++;
    dh_build_function(s->p, &f);
    return true;
}

/* "b3" */
static bool read_block_number(const char *word, uint32_t *out)
{
    return word[0] == 'b' && parse_unsigned(word + 1, out);
}

static bool read_block(struct parser *s)
{
    uint32_t at, to;
    if (!s->bodies)
        return true;
    if (!s->n_functions || !read_block_number(s->words.at[0], &at) || at != s->block + 1)
        return report_syntax(s, "blocks of a function are numbered from b0 on, in order", s->words.at[0]);
    s->block = at;
    dh_build_block(s->p);
    for (size_t i = 1; i < s->words.n; i++) {
        if (i == 1 && strcmp(s->words.at[1], "->") == 0)
            continue;
        if (!read_block_number(s->words.at[i], &to))
            return report_syntax(s, "no block", s->words.at[i]);
        dh_build_edge(s->p, to);
    }
    return true;
}

static bool find_operation(const char *word, unsigned *op)
{
    for (unsigned i = 0; i < DH_I_COUNT; i++)
        if (strcmp(dh_inst_info(i)->word, word) == 0) {
            *op = i;
            return true;
        }
    return false;
}

struct details {
    struct dh_inst i;
    struct dh_source_location place;
};

static bool read_offset(const char *word, int64_t *offset)
{
    return strncmp(word, "offset=", 7) == 0 && parse_number(word + 7, offset);
}

static bool read_detail(struct parser *s, struct details *d, char *word)
{
    uint32_t flag;
    bool ok = true;
    const struct pair pairs[] = {{"size", &d->i.size, NULL},
                                 {"site", &d->i.site, NULL},
                                 {"file", NULL, &d->place.file},
                                 {"line", &d->place.line, NULL},
                                 {"column", &d->place.column, NULL},
                                 {"in", NULL, &d->place.function},
                                 {"variable", NULL, &d->place.variable},
                                 {"type", NULL, &d->place.type},
                                 {0}};
    if (dh_text_word_find(dh_text_words_inst_flags, word, &flag)) {
        d->i.flags |= (uint8_t)flag;
        return true;
    }
    if (strncmp(word, "order=", 6) == 0 && dh_text_word_find(dh_text_words_order, word + 6, &flag)) {
        d->i.order = (uint8_t)flag;
        return true;
    }
    return read_extra(s, word, d->i.op, &d->i.extra) || read_offset(word, &d->i.offset) ||
           (read_pair(s, word, pairs, &ok) && ok);
}

/* Operands come first; everything that is no value is a detail. */
static bool read_operands(struct parser *s, size_t first, unsigned op)
{
    struct details d = {.i = {.op = (uint8_t)op, .site = DH_NO_SITE}};
    dh_value v;
    bool more = true;
    for (size_t i = first; i < s->words.n; i++) {
        char *word = s->words.at[i];
        if (more && op == DH_I_PHI && read_block_number(word, &v))
            dh_build_operand(s->p, v);
        else if (more && !strchr(word, '=') && read_value(s, word, &v))
            dh_build_operand(s->p, v);
        else if (!read_detail(s, &d, word))
            return report_syntax(s, "neither a value nor a property of this instruction", word);
        else
            more = false;
    }
    uint32_t place = dh_build_place(s->p, &d.place);
    struct dh_inst *made = &s->p->insts.at[s->p->insts.n - 1];
    made->flags = d.i.flags;
    made->order = d.i.order;
    made->site = d.i.site;
    made->offset = d.i.offset;
    made->size = d.i.size;
    made->extra = d.i.extra;
    made->place = place;
    return true;
}

static bool read_inst(struct parser *s)
{
    uint32_t result = DH_NONE;
    size_t at = 0;
    unsigned op;
    if (!s->bodies)
        return true;
    if (s->block == DH_NONE)
        return report_syntax(s, "no line of a program", s->words.at[0]);
    if (s->words.n > 2 && strcmp(s->words.at[1], "=") == 0) {
        if (!read_register(s, s->words.at[0], &result))
            return report_syntax(s, "no register", s->words.at[0]);
        at = 2;
    }
    if (!find_operation(s->words.at[at], &op))
        return report_syntax(s, "no such instruction", s->words.at[at]);
    dh_build_inst(s->p, op, result);
    return read_operands(s, at + 1, op);
}

static bool read_statement(struct parser *s)
{
    static const struct {
        const char *word;
        bool (*read)(struct parser *s);
    } table[] = {{"program", NULL},
                 {"global", read_global_line},
                 {"initial", read_initial},
                 {"root", read_root},
                 {"function", read_function}};
    const char *word = s->words.at[0];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(word, table[i].word) == 0)
            return !table[i].read || table[i].read(s);
    if (word[0] == 'b' && strchr("0123456789", word[1]) && word[1])
        return read_block(s);
    return read_inst(s);
}

static bool read_pass(struct parser *s, const char *text, bool bodies)
{
    s->at = text;
    s->line = 0;
    s->bodies = bodies;
    s->n_functions = s->n_globals = 0;
    s->block = DH_NONE;
    while (read_line(s))
        if (s->words.n && !read_statement(s))
            return false;
    return true;
}

bool dh_program_parse(struct dh_program *p, const char *name, const char *text, struct dh_err *err)
{
    struct parser s = {.p = p, .err = err, .name = name};
    dh_program_init(p);
    bool ok = read_pass(&s, text, false) && read_pass(&s, text, true);
    dh_vec_release(&s.words);
    dh_vec_release(&s.text);
    dh_vec_release(&s.starts);
    if (!ok)
        return false;
    for (size_t b = 0; b < p->blocks.n; b++)
        for (uint32_t k = 0; k < p->blocks.at[b].n_succs; k++)
            if (p->edges.at[p->blocks.at[b].succ + k] >= p->functions.at[p->blocks.at[b].function].n_blocks)
                return dh_err_set(err, "%s: a block leads out of its function", name);
    dh_program_finish(p);
    const char *why = dh_program_verify(p);
    return !why || dh_err_set(err, "%s: %s", name, why);
}
