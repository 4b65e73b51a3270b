/* Parses and finds models of library functions. */
#include "model/library_models.h"

#include "base/str.h"
#include "model/program.h"
#include "model/text_words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct dh_library_models *m;
    const char *name, *at;
    unsigned line;
    struct dh_err *err;
    DH_VEC(uint32_t) children; /* of the current effect, since expressions nest */
};

static bool report_syntax(struct reader *r, const char *what)
{
    return dh_err_set(r->err, "%s:%u: %s, at \"%.*s\"", r->name, r->line, what, (int)strcspn(r->at, "\n"), r->at);
}

static void skip_spaces(struct reader *r)
{
    r->at += strspn(r->at, " \t\r");
}

static bool accept(struct reader *r, const char *token)
{
    skip_spaces(r);
    if (!dh_starts_with(r->at, token))
        return false;
    r->at += strlen(token);
    return true;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static size_t name_length(const char *at)
{
    size_t n = 0;
    while (is_name(at[n]))
        n++;
    return n;
}

static uint32_t keep_string(struct dh_library_models *m, const char *at, size_t n)
{
    uint32_t string = (uint32_t)m->strings.n;
    for (size_t i = 0; i < n; i++)
        dh_vec_push(&m->strings, at[i]);
    dh_vec_push(&m->strings, '\0');
    return string;
}

/* ---- expressions ---- */
static bool read_expr(struct reader *r, uint32_t *out);

static uint32_t add_expr(struct reader *r, struct dh_model_expr e)
{
    dh_vec_push(&r->m->exprs, e);
    return (uint32_t)r->m->exprs.n - 1;
}

static bool read_name(struct reader *r, struct dh_model_expr e, uint32_t *out)
{
    size_t n = name_length(r->at);
    if (!n)
        return report_syntax(r, "a name is missing");
    e.text = keep_string(r->m, r->at, n);
    r->at += n;
    *out = add_expr(r, e);
    return true;
}

static bool read_inner(struct reader *r, struct dh_model_expr e, uint32_t *out)
{
    if (!read_expr(r, &e.child))
        return false;
    if (!accept(r, ")"))
        return report_syntax(r, "a closing bracket is missing");
    *out = add_expr(r, e);
    return true;
}

static bool read_number(struct reader *r, uint32_t *out)
{
    char *end;
    long long n = strtoll(r->at, &end, 10);
    if (end == r->at)
        return report_syntax(r, "an expression is missing");
    r->at = end;
    *out = add_expr(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_INT, .number = n});
    return true;
}

static bool read_primary(struct reader *r, uint32_t *out)
{
    struct dh_model_expr load = {.kind = DH_MODEL_EXPR_LOAD};
    if (accept(r, "*")) {
        if (!read_primary(r, &load.child))
            return false;
        *out = add_expr(r, load);
        return true;
    }
    if (accept(r, "("))
        return read_expr(r, out) && (accept(r, ")") || report_syntax(r, "a closing bracket is missing"));
    if (accept(r, "new("))
        return read_inner(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_NEW}, out);
    if (accept(r, "zeroed("))
        return read_inner(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_NEW, .zeroed = true}, out);
    if (accept(r, "$$"))
        return read_name(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_HIDDEN, .tls = true}, out);
    if (accept(r, "$"))
        return read_name(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_HIDDEN}, out);
    if (accept(r, "&"))
        return read_name(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_GLOBAL}, out);
    if (accept(r, "data")) {
        *out = add_expr(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_DATA});
        return true;
    }
    if (accept(r, "result")) {
        *out = add_expr(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_RESULT});
        return true;
    }
    if (accept(r, "unknown")) {
        *out = add_expr(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_UNKNOWN});
        return true;
    }
    if (r->at[0] == 'a' && isdigit((unsigned char)r->at[1])) {
        char *end;
        *out =
            add_expr(r, (struct dh_model_expr){.kind = DH_MODEL_EXPR_ARGUMENT, .number = strtol(r->at + 1, &end, 10)});
        r->at = end;
        return true;
    }
    return read_number(r, out);
}

static bool read_expr(struct reader *r, uint32_t *out)
{
    if (!read_primary(r, out))
        return false;
    while (accept(r, "+")) {
        char *end;
        struct dh_model_expr add = {.kind = DH_MODEL_EXPR_ADD, .child = *out, .number = strtoll(r->at, &end, 10)};
        if (end == r->at)
            return report_syntax(r, "a number of bytes is missing");
        r->at = end;
        *out = add_expr(r, add);
    }
    return true;
}

/* ---- effects ---- */
static bool at_end(struct reader *r)
{
    skip_spaces(r);
    return *r->at == ';' || *r->at == '\n' || *r->at == '\0' || *r->at == '#';
}

static bool read_operand(struct reader *r)
{
    uint32_t e;
    if (!read_expr(r, &e))
        return false;
    dh_vec_push(&r->children, e);
    return true;
}

static void keep_effect(struct reader *r, struct dh_effect e)
{
    e.expr = (uint32_t)r->m->roots.n;
    e.n_exprs = (uint32_t)r->children.n;
    for (size_t i = 0; i < r->children.n; i++)
        dh_vec_push(&r->m->roots, r->children.at[i]);
    dh_vec_push(&r->m->effects, e);
}

/* "ok=zero", "timed", "when=exit", "order=acquire" */
static bool read_property(struct reader *r, struct dh_effect *e)
{
    char word[32];
    uint32_t value;
    const struct dh_text_extra *x = dh_text_extra(e->op);
    size_t n = strcspn(r->at, " \t;\n#"), key = x ? strlen(x->key) : 0;
    if (n >= sizeof word)
        return false;
    memcpy(word, r->at, n);
    word[n] = '\0';
    if (dh_text_word_find(dh_text_words_inst_flags, word, &value))
        e->flags |= (uint8_t)value;
    else if (dh_starts_with(word, "order=") && dh_text_word_find(dh_text_words_order, word + 6, &value))
        e->order = (uint8_t)value;
    else if (!x || !x->table || strncmp(word, x->key, key) != 0 || word[key] != '=' ||
             !dh_text_word_find(x->table, word + key + 1, &e->extra))
        return false;
    r->at += n;
    return true;
}

static bool read_arguments(struct reader *r)
{
    if (!accept(r, "("))
        return report_syntax(r, "what is called needs arguments in brackets");
    while (!accept(r, ")")) {
        if (!read_operand(r))
            return false;
        accept(r, ",");
    }
    return true;
}

struct form {
    const char *word;
    uint8_t kind;
    uint8_t op;
    uint8_t least, most; /* expressions */
    bool arguments;      /* then some in brackets */
};

static const struct form forms[] = {
    {"copy", DH_EFFECT_COPY, 0, 2, 3, false},
    {"set", DH_EFFECT_SET, 0, 2, 3, false},
    {"read", DH_EFFECT_READ, 0, 1, 2, false},
    {"write", DH_EFFECT_WRITE, 0, 1, 2, false},
    {"read-from", DH_EFFECT_READ_FROM, 0, 1, 1, false},
    {"write-from", DH_EFFECT_WRITE_FROM, 0, 1, 1, false},
    {"call", DH_EFFECT_CALL, 0, 1, 1, true},
    {"calls", DH_EFFECT_CALLS, 0, 1, 1, true},
    {"once", DH_EFFECT_ONCE, 0, 2, 2, true},
    {"anything", DH_EFFECT_FOREIGN, 0, 0, 9, false},
    {"throws", DH_EFFECT_THROWS, 0, 0, 0, false},
    {"stops", DH_EFFECT_STOPS, 0, 0, 0, false},
    {"fold", DH_EFFECT_FOLD, 0, 1, 1, false},
    {"instead", DH_EFFECT_OVERRIDES_BODY, 0, 0, 0, false},
    {"loosely", DH_EFFECT_APPROXIMATE, 0, 0, 0, false},
};

static bool find_form(const char *word, size_t n, struct form *out)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strncmp(forms[i].word, word, n) == 0 && !forms[i].word[n]) {
            *out = forms[i];
            return true;
        }
    for (unsigned op = 0; op < DH_I_COUNT; op++) {
        const struct dh_inst_info *info = dh_inst_info(op);
        if (info->class != DH_CLASS_VALUE && info->class != DH_CLASS_END && strncmp(info->word, word, n) == 0 &&
            !info->word[n]) {
            *out = (struct form){info->word, DH_EFFECT_INST, (uint8_t)op, 0, 9, false};
            return true;
        }
    }
    return false;
}

static bool is_property(const struct reader *r)
{
    size_t n = strcspn(r->at, " \t;\n#");
    return memchr(r->at, '=', n);
}

static bool read_form(struct reader *r)
{
    struct form f;
    size_t n = name_length(r->at);
    if (!n || !find_form(r->at, n, &f))
        return report_syntax(r, "no such effect");
    r->at += n;
    struct dh_effect e = {.kind = f.kind, .op = f.op};
    while (!at_end(r) && *r->at != '(' && r->children.n < f.most && !is_property(r) && !read_property(r, &e))
        if (!read_operand(r))
            return false;
    if (f.arguments && !read_arguments(r))
        return false;
    while (!at_end(r))
        if (!read_property(r, &e))
            return report_syntax(r, "neither an operand nor a property of this effect");
    if (r->children.n < f.least)
        return report_syntax(r, "an operand is missing");
    if (e.kind == DH_EFFECT_READ_FROM || e.kind == DH_EFFECT_WRITE_FROM || e.kind == DH_EFFECT_FOLD)
        e.number = r->m->exprs.at[r->children.at[0]].number;
    keep_effect(r, e);
    return true;
}

static bool read_effect(struct reader *r)
{
    r->children.n = 0;
    if (accept(r, "nothing"))
        return true;
    if (accept(r, "ret")) {
        if (!accept(r, "="))
            return report_syntax(r, "`ret = VALUE` is wanted");
        if (!read_operand(r))
            return false;
        keep_effect(r, (struct dh_effect){.kind = DH_EFFECT_RESULT});
        return true;
    }
    if (accept(r, "*")) {
        uint32_t address;
        if (!read_primary(r, &address))
            return false;
        dh_vec_push(&r->children, address);
        if (!accept(r, "="))
            return report_syntax(r, "`*ADDRESS = VALUE` is wanted");
        if (!read_operand(r))
            return false;
        keep_effect(r, (struct dh_effect){.kind = DH_EFFECT_STORE});
        return true;
    }
    skip_spaces(r);
    return read_form(r);
}

/* ---- functions ---- */
static void add_function(struct reader *r, const char *name, size_t n, uint32_t effect)
{
    struct dh_library_models *m = r->m;
    struct dh_library_function f = {.length = (uint32_t)n, .effect = effect};
    if (n && name[n - 1] == '*') {
        f.prefix = true;
        f.length--;
    }
    f.name = keep_string(m, name, f.length);
    f.n_effects = (uint32_t)m->effects.n - effect;
    for (uint32_t i = 0; i < f.n_effects; i++) {
        f.instead |= m->effects.at[effect + i].kind == DH_EFFECT_OVERRIDES_BODY;
        f.loosely |= m->effects.at[effect + i].kind == DH_EFFECT_APPROXIMATE;
    }
    dh_vec_push(&m->functions, f);
}

/* "name name* name : effect ; effect" */
static bool read_line(struct reader *r)
{
    const char *names = r->at, *colon = names + strcspn(names, ":\n#");
    uint32_t effect = (uint32_t)r->m->effects.n;
    if (*colon != ':') {
        skip_spaces(r);
        return *r->at == '#' || *r->at == '\n' || !*r->at || report_syntax(r, "`NAME: EFFECTS` is wanted");
    }
    r->at = colon + 1;
    do {
        if (!at_end(r) && !read_effect(r))
            return false;
    } while (accept(r, ";"));
    if (!at_end(r))
        return report_syntax(r, "a semicolon is missing");
    while (names < colon) {
        names += strspn(names, " \t,");
        size_t n = 0;
        while (is_name(names[n]) || names[n] == '*')
            n++;
        if (!n && names < colon)
            return report_syntax(r, "a name is missing before the colon");
        if (n)
            add_function(r, names, n, effect);
        names += n;
        names += strspn(names, " \t,");
    }
    return true;
}

/* ---- finding ---- */
static const struct dh_library_models *sorting;

/* Of equal names the later one comes first. */
static int by_name(const void *a, const void *b)
{
    const struct dh_library_function *x = a, *y = b;
    int c = strcmp(dh_library_models_string(sorting, x->name), dh_library_models_string(sorting, y->name));
    return c ? c : x->name < y->name ? 1 : -1;
}

static int by_length(const void *a, const void *b)
{
    const struct dh_library_function *x = &sorting->functions.at[*(const uint32_t *)a],
                                     *y = &sorting->functions.at[*(const uint32_t *)b];
    return x->length != y->length ? (x->length < y->length ? 1 : -1) : x->name < y->name ? 1 : -1;
}

static void sort_functions(struct dh_library_models *m)
{
    sorting = m;
    qsort(m->functions.at, m->functions.n, sizeof *m->functions.at, by_name);
    m->prefixes.n = 0;
    for (size_t i = 0; i < m->functions.n; i++)
        if (m->functions.at[i].prefix)
            dh_vec_push(&m->prefixes, (uint32_t)i);
    if (m->prefixes.n)
        qsort(m->prefixes.at, m->prefixes.n, sizeof *m->prefixes.at, by_length);
    sorting = NULL;
}

bool dh_library_models_read(struct dh_library_models *m, const char *name, const char *text, struct dh_err *err)
{
    struct reader r = {.m = m, .name = name, .at = text, .err = err};
    bool ok = true;
    for (; ok && *r.at; r.at += *r.at == '\n') {
        r.line++;
        ok = read_line(&r);
        r.at += strcspn(r.at, "\n");
    }
    dh_vec_release(&r.children);
    if (ok && m->functions.n)
        sort_functions(m);
    return ok;
}

void dh_library_models_init(struct dh_library_models *m)
{
    static const struct {
        const char *name, *text;
    } known[] = {
#include "model/library_effects.inc"
    };
    *m = (struct dh_library_models){0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct dh_err err = {0};
        /* A test reads every file; an error there must not go unnoticed here. */
        if (!dh_library_models_read(m, known[i].name, known[i].text, &err))
            abort();
    }
}

void dh_library_models_release(struct dh_library_models *m)
{
    dh_vec_release(&m->functions);
    dh_vec_release(&m->effects);
    dh_vec_release(&m->exprs);
    dh_vec_release(&m->roots);
    dh_vec_release(&m->strings);
    dh_vec_release(&m->prefixes);
}

const struct dh_library_function *dh_library_models_find(const struct dh_library_models *m, const char *name)
{
    size_t low = 0, high = m->functions.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(dh_library_models_string(m, m->functions.at[middle].name), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < m->functions.n && strcmp(dh_library_models_string(m, m->functions.at[low].name), name) == 0; low++)
        if (!m->functions.at[low].prefix)
            return &m->functions.at[low];
    for (size_t i = 0; i < m->prefixes.n; i++) {
        const struct dh_library_function *f = &m->functions.at[m->prefixes.at[i]];
        if (strncmp(dh_library_models_string(m, f->name), name, f->length) == 0)
            return f;
    }
    return NULL;
}
