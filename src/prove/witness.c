#include "prove/witness.h"

#include "base/reader.h"
#include "event/engine.h"
#include "image/container.h"
#include "search/strategy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "deadheat-witness"

enum { LINES_MOST = 20000000, LINE_MOST = 1 << 20 };

void dh_witness_init(struct dh_witness *w)
{
    *w = (struct dh_witness){0};
    char **texts[] = {&w->kind, &w->finding, &w->program, &w->input, &w->child, &w->text, &w->visible_hash, &w->model};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = dh_strdup("");
}

void dh_witness_release(struct dh_witness *w)
{
    char *texts[] = {w->kind, w->finding, w->program, w->input, w->child, w->text, w->visible_hash, w->model};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (size_t i = 0; i < w->builds.n; i++)
        free(w->builds.at[i].id), free(w->builds.at[i].name);
    for (size_t i = 0; i < w->arguments.n; i++)
        free(w->arguments.at[i]);
    for (size_t i = 0; i < w->environment.n; i++)
        free(w->environment.at[i]);
    for (size_t i = 0; i < w->inputs.n; i++)
        free(w->inputs.at[i].hash), free(w->inputs.at[i].path);
    for (size_t i = 0; i < w->visible.n; i++)
        free(w->visible.at[i]);
    for (size_t i = 0; i < w->marks.n; i++)
        free(w->marks.at[i].place);
    dh_vec_release(&w->marks);
    for (size_t i = 0; i < w->stale.n; i++)
        free(w->stale.at[i].place);
    dh_vec_release(&w->stale);
    for (size_t i = 0; i < w->foreseen.n; i++)
        free(w->foreseen.at[i].place);
    dh_vec_release(&w->foreseen);
    dh_vec_release(&w->elements);
    for (size_t i = 0; i < w->steps.n; i++)
        free(w->steps.at[i].place);
    for (size_t i = 0; i < w->parties.n; i++)
        free(w->parties.at[i].place);
    dh_vec_release(&w->builds);
    dh_vec_release(&w->arguments);
    dh_vec_release(&w->environment);
    dh_vec_release(&w->inputs);
    dh_vec_release(&w->visible);
    dh_vec_release(&w->steps);
    dh_vec_release(&w->parties);
    *w = (struct dh_witness){0};
}

/* ---- the visible set ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void dh_witness_hash_visible(const struct dh_witness *w, char hash[33])
{
    struct dh_str all = {0};
    DH_VEC(char *) sorted = {0};
    for (size_t i = 0; i < w->visible.n; i++)
        dh_vec_push(&sorted, w->visible.at[i]);
    if (sorted.n)
        qsort(sorted.at, sorted.n, sizeof *sorted.at, by_text);
    dh_str_add(&all, w->all_visible ? "all\n" : "\n");
    for (size_t i = 0; i < sorted.n; i++)
        dh_str_addf(&all, "%s\n", sorted.at[i]);
    struct dh_id id = dh_content_hash(all.at, all.n);
    dh_id_text(&id, hash);
    dh_vec_release(&sorted);
    dh_str_release(&all);
}

/* ---- the environment ---- */

/* Variables that change the behaviour of programs and are harmless. */
static const char *const may_set[] = {"LANG",    "LANGUAGE",   "LC_ALL",         "LC_CTYPE", "LC_NUMERIC",
                                      "LC_TIME", "LC_COLLATE", "LC_MESSAGES",    "TZ",       "TERM",
                                      "COLUMNS", "LINES",      "OMP_NUM_THREADS"};

bool dh_witness_may_set(const char *name_and_value)
{
    size_t n = strcspn(name_and_value, "=");
    for (size_t i = 0; name_and_value[n] && i < sizeof may_set / sizeof *may_set; i++)
        if (strlen(may_set[i]) == n && strncmp(may_set[i], name_and_value, n) == 0)
            return true;
    return false;
}

/* ---- writing ---- */

/* On one line: control characters and backslashes are escaped. */
static void add_text(struct dh_str *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\\' || c < 0x20 || c == 0x7f)
            dh_str_addf(out, "\\x%02x", c);
        else
            dh_str_add_n(out, text, 1);
    }
}

static void add_line(struct dh_str *out, const char *key, const char *text)
{
    dh_str_addf(out, "%s%s", key, *text ? " " : "");
    add_text(out, text);
    dh_str_add(out, "\n");
}

static void add_step(struct dh_str *out, const char *key, const struct dh_witness_step *s)
{
    dh_str_addf(out, "%s %u %s %u %u ", key, s->thread, dh_step_name(s->kind), s->occurrence, s->alternative);
    add_text(out, s->place);
    dh_str_add(out, "\n");
}

static void add_mark(struct dh_str *out, const char *key, const struct dh_witness_mark *m)
{
    dh_str_addf(out, "%s %u ", key, m->marks);
    add_text(out, m->place);
    dh_str_add(out, "\n");
}

static void add_foreseen(struct dh_str *out, const struct dh_witness_foreseen *f)
{
    dh_str_addf(out, "foreseen %u %u %llx ", f->thread, f->occurrence, (unsigned long long)f->value);
    add_text(out, f->place);
    dh_str_add(out, "\n");
}

static void add_element(struct dh_str *out, const struct dh_racy_element *e)
{
    dh_str_addf(out, "element %llu %llu", (unsigned long long)e->block, (unsigned long long)e->offset);
    if (e->global[0]) {
        dh_str_add(out, " ");
        add_text(out, e->global);
    }
    dh_str_add(out, "\n");
}

static void print_how_to_run(struct dh_str *out, const struct dh_witness *w)
{
    for (size_t i = 0; i < w->builds.n; i++) {
        dh_str_addf(out, "build %s ", w->builds.at[i].id);
        add_text(out, w->builds.at[i].name);
        dh_str_add(out, "\n");
    }
    add_line(out, "program", w->program);
    for (size_t i = 0; i < w->arguments.n; i++)
        add_line(out, "argument", w->arguments.at[i]);
    for (size_t i = 0; i < w->environment.n; i++)
        add_line(out, "environment", w->environment.at[i]);
    if (w->follow) {
        dh_str_addf(out, "child %016llx ", (unsigned long long)w->follow);
        add_text(out, w->child);
        dh_str_add(out, "\n");
    }
    if (w->input[0])
        add_line(out, "stdin", w->input);
    for (size_t i = 0; i < w->inputs.n; i++) {
        dh_str_addf(out, "input %s ", w->inputs.at[i].hash);
        add_text(out, w->inputs.at[i].path);
        dh_str_add(out, "\n");
    }
}

void dh_witness_print(struct dh_str *out, const struct dh_witness *w)
{
    char hash[33];
    dh_witness_hash_visible(w, hash);
    dh_str_addf(out, MAGIC " %d\n", DH_WITNESS_VERSION);
    if (w->finding[0])
        add_line(out, "finding", w->finding);
    print_how_to_run(out, w);
    dh_str_addf(out, "threads %u\n", w->threads);
    if (w->spurious)
        dh_str_add(out, "spurious\n");
    if (w->fresh)
        dh_str_add(out, "fresh\n");
    if (w->all_visible)
        dh_str_add(out, "all-visible\n");
    if (w->only_visible)
        dh_str_add(out, "only-visible\n");
    if (w->watchdogs)
        dh_str_add(out, "watchdogs\n");
    dh_str_addf(out, "visible-set %s\n", hash);
    for (size_t i = 0; i < w->visible.n; i++)
        add_line(out, "visible", w->visible.at[i]);
    for (size_t i = 0; i < w->marks.n; i++)
        add_mark(out, "section", &w->marks.at[i]);
    if (w->model[0])
        add_line(out, "memory", w->model);
    for (size_t i = 0; i < w->stale.n; i++)
        add_mark(out, "stale", &w->stale.at[i]);
    for (size_t i = 0; i < w->elements.n; i++)
        add_element(out, &w->elements.at[i]);
    for (size_t i = 0; i < w->foreseen.n; i++)
        add_foreseen(out, &w->foreseen.at[i]);
    if (w->undisturbed)
        dh_str_addf(out, "undisturbed %u %u\n", w->undisturbed, w->quantum);
    dh_str_addf(out, "steps %zu\n", w->steps.n);
    for (size_t i = 0; i < w->steps.n; i++)
        add_step(out, "step", &w->steps.at[i]);
    add_line(out, "end", w->kind);
    for (size_t i = 0; i < w->parties.n; i++)
        add_step(out, "party", &w->parties.at[i]);
    if (w->text[0])
        add_line(out, "text", w->text);
    if (w->signal)
        dh_str_addf(out, "signal %d\n", w->signal);
    if (w->status)
        dh_str_addf(out, "status %d\n", w->status);
    if (strcmp(w->kind, dh_engine_end_names[DH_ENGINE_WRONG]) == 0)
        dh_str_addf(out, "outcome %d %llx %llx\n", w->outcome.status, (unsigned long long)w->outcome.output,
                    (unsigned long long)w->outcome.errors);
}

/* ---- reading ---- */

struct parse {
    struct dh_witness *w;
    const char *at, *end; /* the rest of the text */
    size_t line;
    unsigned steps; /* announced */
    char *mark;
    size_t *body;
    const char *begin, *line_at;
    struct dh_err *err;
    uint32_t seen; /* bit per key */
};

static bool refuse(struct parse *p, const char *what)
{
    return dh_err_set(p->err, "line %zu: %s", p->line, what);
}

/* Undoes add_text in place; false: a broken escape, or a zero byte. */
static bool unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        unsigned c;
        if (*from != '\\') {
            *to = *from++;
            continue;
        }
        if (from[1] != 'x' || !isxdigit((unsigned char)from[2]) || !isxdigit((unsigned char)from[3]) ||
            sscanf(from + 2, "%2x", &c) != 1 || !c)
            return false;
        *to = (char)c;
        from += 4;
    }
    *to = 0;
    return true;
}

static bool set_text(char **field, const char *value)
{
    free(*field);
    *field = dh_strdup(value);
    return true;
}

static bool is_hash(const char *text)
{
    return strspn(text, "0123456789abcdef") == 32 && (text[32] == 0 || text[32] == ' ');
}

static struct dh_cursor cursor_of(const char *text)
{
    return dh_cursor_of(text, strlen(text));
}

static bool take_number(struct dh_cursor *c, uint32_t *out)
{
    uint64_t n;
    bool ok = dh_cursor_take_digits(c, 10, UINT32_MAX, &n);
    *out = ok ? (uint32_t)n : 0;
    return ok;
}

static bool take_space(struct dh_cursor *c)
{
    return dh_cursor_take_literal(c, " ");
}

/* After a space, the rest of the line, which is not empty. */
static bool take_place(struct dh_cursor *c, char **out)
{
    if (!take_space(c) || dh_cursor_is_end(c))
        return false;
    *out = dh_strdup(c->at);
    return true;
}

static bool whole_number(const char *text, uint32_t *out)
{
    struct dh_cursor c = cursor_of(text);
    return take_number(&c, out) && dh_cursor_is_end(&c);
}

static bool take_kind(struct dh_cursor *c, uint8_t *kind)
{
    struct dh_span name = dh_cursor_take_until(c, ' ');
    for (*kind = 0; *kind < DH_STEP_COUNT; ++*kind)
        if (dh_span_is(name, dh_step_name(*kind)))
            return true;
    return false;
}

/* THREAD KIND OCCURRENCE ALTERNATIVE PLACE */
static bool read_step(const char *value, struct dh_witness_step *s)
{
    struct dh_cursor c = cursor_of(value);
    return take_number(&c, &s->thread) && take_space(&c) && take_kind(&c, &s->kind) && take_space(&c) &&
           take_number(&c, &s->occurrence) && take_space(&c) && take_number(&c, &s->alternative) &&
           s->alternative <= UINT16_MAX && take_place(&c, &s->place);
}

static bool on_finding(struct parse *p, const char *v)
{
    return (*v && v[strspn(v, "0123456789abcdef")] == 0 && set_text(&p->w->finding, v)) ||
           refuse(p, "no id of a finding");
}

static bool on_build(struct parse *p, const char *v)
{
    if (!is_hash(v) || v[32] != ' ' || !v[33])
        return refuse(p, "a build is an id of 32 hexadecimal digits and a name");
    struct dh_witness_build b = {.id = dh_format("%.32s", v), .name = dh_strdup(v + 33)};
    dh_vec_push(&p->w->builds, b);
    return true;
}

static bool on_program(struct parse *p, const char *v)
{
    return (*v && set_text(&p->w->program, v)) || refuse(p, "no program is named");
}

static bool on_argument(struct parse *p, const char *v)
{
    dh_vec_push(&p->w->arguments, dh_strdup(v));
    return true;
}

static bool on_environment(struct parse *p, const char *v)
{
    if (!dh_witness_may_set(v))
        return refuse(p, "a witness may not set that variable");
    dh_vec_push(&p->w->environment, dh_strdup(v));
    return true;
}

static bool on_child(struct parse *p, const char *v)
{
    enum { DIGITS = 16 };
    char digits[DIGITS + 1] = "";
    if (strspn(v, "0123456789abcdef") != DIGITS || v[DIGITS] != ' ' || !v[DIGITS + 1])
        return refuse(p, "a child is 16 hexadecimal digits and a file");
    memcpy(digits, v, DIGITS);
    p->w->follow = strtoull(digits, NULL, 16);
    return (p->w->follow && set_text(&p->w->child, v + DIGITS + 1)) || refuse(p, "no child has the number 0");
}

static bool on_stdin(struct parse *p, const char *v)
{
    return (*v && set_text(&p->w->input, v)) || refuse(p, "no file is named");
}

static bool on_input(struct parse *p, const char *v)
{
    if (!is_hash(v) || v[32] != ' ' || !v[33])
        return refuse(p, "an input is a hash of 32 hexadecimal digits and a file");
    struct dh_witness_input i = {.hash = dh_format("%.32s", v), .path = dh_strdup(v + 33)};
    dh_vec_push(&p->w->inputs, i);
    return true;
}

static bool on_threads(struct parse *p, const char *v)
{
    return whole_number(v, &p->w->threads) || refuse(p, "no number of threads");
}

static bool on_spurious(struct parse *p, const char *v)
{
    p->w->spurious = true;
    return !*v || refuse(p, "'spurious' stands alone");
}

static bool on_fresh(struct parse *p, const char *v)
{
    p->w->fresh = true;
    return !*v || refuse(p, "'fresh' stands alone");
}

static bool on_all_visible(struct parse *p, const char *v)
{
    p->w->all_visible = true;
    return !*v || refuse(p, "'all-visible' stands alone");
}

static bool on_only_visible(struct parse *p, const char *v)
{
    p->w->only_visible = true;
    return !*v || refuse(p, "'only-visible' stands alone");
}

static bool on_watchdogs(struct parse *p, const char *v)
{
    p->w->watchdogs = true;
    return !*v || refuse(p, "'watchdogs' stands alone");
}

static bool on_visible_set(struct parse *p, const char *v)
{
    return (is_hash(v) && !v[32] && set_text(&p->w->visible_hash, v)) || refuse(p, "no hash of 32 hexadecimal digits");
}

static bool on_visible(struct parse *p, const char *v)
{
    if (!*v)
        return refuse(p, "no place is named");
    dh_vec_push(&p->w->visible, dh_strdup(v));
    return true;
}

static bool read_mark(const char *v, uint32_t most, struct dh_witness_mark *m)
{
    struct dh_cursor c = cursor_of(v);
    return take_number(&c, &m->marks) && m->marks <= most && take_place(&c, &m->place);
}

static bool on_section(struct parse *p, const char *v)
{
    struct dh_witness_mark m = {0};
    if (!read_mark(v, UINT16_MAX, &m))
        return refuse(p, "a section's place is MARKS PLACE");
    dh_vec_push(&p->w->marks, m);
    return true;
}

static bool on_memory(struct parse *p, const char *v)
{
    return (*v && strlen(v) < 16 && set_text(&p->w->model, v)) || refuse(p, "no memory model is named");
}

static bool on_stale(struct parse *p, const char *v)
{
    struct dh_witness_mark m = {0};
    if (!read_mark(v, UINT8_MAX, &m))
        return refuse(p, "a place of stale loads is MARKS PLACE");
    dh_vec_push(&p->w->stale, m);
    return true;
}

static bool on_foreseen(struct parse *p, const char *v)
{
    struct dh_witness_foreseen f = {0};
    struct dh_cursor c = cursor_of(v);
    bool ok = p->w->foreseen.n < DH_ENGINE_FORESEEN && take_number(&c, &f.thread) && take_space(&c) &&
              take_number(&c, &f.occurrence) && take_space(&c) && dh_cursor_take_digits(&c, 16, UINT64_MAX, &f.value) &&
              take_place(&c, &f.place);
    if (!ok)
        return refuse(p, "a foreseen write is THREAD OCCURRENCE VALUE PLACE, and there are not many");
    dh_vec_push(&p->w->foreseen, f);
    return true;
}

static bool on_element(struct parse *p, const char *v)
{
    struct dh_racy_element e = {0};
    unsigned long long block, offset;
    int end = 0;
    bool ok = sscanf(v, "%20llu %20llu%n", &block, &offset, &end) == 2 && (!v[end] || (v[end] == ' ' && v[end + 1]));
    const char *global = ok && v[end] ? v + end + 1 : "";
    if (!ok || strlen(global) >= sizeof e.global || !block == !*global || p->w->elements.n == DH_ENGINE_ELEMENTS)
        return refuse(p, "an element is BLOCK OFFSET, or 0 OFFSET GLOBAL, and there are not many");
    e.block = block;
    e.offset = offset;
    strcpy(e.global, global);
    dh_vec_push(&p->w->elements, e);
    return true;
}

static bool on_outcome(struct parse *p, const char *v)
{
    unsigned long long output, errors;
    char rest;
    if (sscanf(v, "%d %llx %llx%c", &p->w->outcome.status, &output, &errors, &rest) != 3)
        return refuse(p, "an outcome is STATUS OUTPUT ERRORS");
    p->w->outcome.output = output;
    p->w->outcome.errors = errors;
    return true;
}

static bool on_undisturbed(struct parse *p, const char *v)
{
    struct dh_cursor c = cursor_of(v);
    return (take_number(&c, &p->w->undisturbed) && p->w->undisturbed && take_space(&c) &&
            take_number(&c, &p->w->quantum) && p->w->quantum && dh_cursor_is_end(&c)) ||
           refuse(p, "an undisturbed beginning is STEPS QUANTUM");
}

static bool on_steps(struct parse *p, const char *v)
{
    return whole_number(v, &p->steps) || refuse(p, "no number of steps");
}

static bool on_step(struct parse *p, const char *v)
{
    struct dh_witness_step s = {0};
    if (!read_step(v, &s))
        return refuse(p, "a step is THREAD KIND OCCURRENCE ALTERNATIVE PLACE");
    dh_vec_push(&p->w->steps, s);
    return true;
}

static bool on_end(struct parse *p, const char *v)
{
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++)
        if (strcmp(v, dh_engine_end_names[i]) == 0)
            return set_text(&p->w->kind, v);
    return refuse(p, "no end of that kind is known");
}

static bool on_party(struct parse *p, const char *v)
{
    struct dh_witness_step s = {0};
    if (!read_step(v, &s))
        return refuse(p, "a party is THREAD KIND OCCURRENCE ALTERNATIVE PLACE");
    dh_vec_push(&p->w->parties, s);
    return true;
}

static bool on_text(struct parse *p, const char *v)
{
    return set_text(&p->w->text, v);
}

static bool on_signal(struct parse *p, const char *v)
{
    uint32_t n;
    if (!whole_number(v, &n) || n > 64)
        return refuse(p, "no number of a signal");
    p->w->signal = (int)n;
    return true;
}

static bool on_status(struct parse *p, const char *v)
{
    uint32_t n;
    if (!whole_number(v, &n) || n > 255)
        return refuse(p, "no exit status");
    p->w->status = (int)n;
    return true;
}

static bool on_mark(struct parse *p, const char *v)
{
    if (!is_hash(v) || v[32])
        return refuse(p, "a mark has 32 hexadecimal digits");
    memcpy(p->mark, v, 33);
    *p->body = (size_t)(p->line_at - p->begin);
    return true;
}

enum { ONCE = 1, NEEDED = 2 };

/* In the order of the format. */
static const struct key {
    const char *name;
    bool (*take)(struct parse *p, const char *value);
    unsigned rule;
} keys[] = {
    {"finding", on_finding, ONCE},
    {"build", on_build, NEEDED},
    {"program", on_program, ONCE | NEEDED},
    {"argument", on_argument, 0},
    {"environment", on_environment, 0},
    {"child", on_child, ONCE},
    {"stdin", on_stdin, ONCE},
    {"input", on_input, 0},
    {"threads", on_threads, ONCE | NEEDED},
    {"spurious", on_spurious, ONCE},
    {"fresh", on_fresh, ONCE},
    {"all-visible", on_all_visible, ONCE},
    {"only-visible", on_only_visible, ONCE},
    {"watchdogs", on_watchdogs, ONCE},
    {"visible-set", on_visible_set, ONCE | NEEDED},
    {"visible", on_visible, 0},
    {"section", on_section, 0},
    {"memory", on_memory, ONCE},
    {"stale", on_stale, 0},
    {"element", on_element, 0},
    {"foreseen", on_foreseen, 0},
    {"undisturbed", on_undisturbed, ONCE},
    {"steps", on_steps, ONCE | NEEDED},
    {"step", on_step, 0},
    {"end", on_end, ONCE | NEEDED},
    {"party", on_party, 0},
    {"text", on_text, ONCE},
    {"signal", on_signal, ONCE},
    {"status", on_status, ONCE},
    {"outcome", on_outcome, ONCE},
    {"mark", on_mark, ONCE | NEEDED},
};
enum { KEYS = sizeof keys / sizeof *keys };

/* The next line, owned by the caller; NULL at the end of the text, or when the last line is incomplete. */
static char *next_line(struct parse *p)
{
    const char *end = p->at < p->end ? memchr(p->at, '\n', (size_t)(p->end - p->at)) : NULL;
    if (!end || end - p->at > LINE_MOST || memchr(p->at, 0, (size_t)(end - p->at)))
        return NULL;
    p->line_at = p->at;
    char *line = dh_format("%.*s", (int)(end - p->at), p->at);
    p->at = end + 1;
    p->line++;
    return line;
}

static bool take_line(struct parse *p, char *line, unsigned *last)
{
    size_t n = strcspn(line, " ");
    unsigned k = 0;
    while (k < KEYS && !(strlen(keys[k].name) == n && strncmp(keys[k].name, line, n) == 0))
        k++;
    if (k == KEYS)
        return refuse(p, "nothing that a witness says");
    if (k < *last)
        return refuse(p, "out of order");
    if ((keys[k].rule & ONCE) && (p->seen & 1u << k))
        return refuse(p, "said twice");
    *last = k;
    p->seen |= 1u << k;
    char *value = line + n + (line[n] == ' ');
    return unescape(value) ? keys[k].take(p, value) : refuse(p, "a broken escape");
}

static bool read_lines(struct parse *p)
{
    unsigned last = 0;
    char *line;
    while (p->line < LINES_MOST && (line = next_line(p))) {
        bool ok = take_line(p, line, &last);
        free(line);
        if (!ok)
            return false;
    }
    return true;
}

static bool is_whole(struct parse *p)
{
    char hash[33];
    if (p->at != p->end || !(p->seen & 1u << (KEYS - 1)))
        return dh_err_set(p->err, "it is cut short after line %zu", p->line);
    for (unsigned k = 0; k < KEYS; k++)
        if ((keys[k].rule & NEEDED) && !(p->seen & 1u << k))
            return dh_err_set(p->err, "it has no line '%s'", keys[k].name);
    if (p->steps != p->w->steps.n)
        return dh_err_set(p->err, "it announces %u steps and has %zu", p->steps, p->w->steps.n);
    dh_witness_hash_visible(p->w, hash);
    if (strcmp(hash, p->w->visible_hash) != 0)
        return dh_err_set(p->err, "its visible set is not the one that its hash is of");
    return true;
}

static bool read_version(struct parse *p)
{
    char *line = next_line(p);
    uint32_t version = 0;
    bool magic = line && dh_starts_with(line, MAGIC " ") && whole_number(line + sizeof MAGIC, &version);
    free(line);
    if (!magic)
        return dh_err_set(p->err, "it is no witness");
    return version == DH_WITNESS_VERSION ||
           dh_err_set(p->err, "it is a witness of version %u; this is for version %d", version, DH_WITNESS_VERSION);
}

bool dh_witness_parse(struct dh_witness *w, const char *text, size_t n, char mark[33], size_t *body, struct dh_err *err)
{
    struct parse p = {.w = w, .at = text, .begin = text, .end = text + n, .mark = mark, .body = body, .err = err};
    dh_witness_init(w);
    mark[0] = 0;
    *body = 0;
    return read_version(&p) && read_lines(&p) && is_whole(&p);
}
