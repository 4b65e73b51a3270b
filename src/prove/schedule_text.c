#include "prove/schedule_text.h"

#include "finding/value_text.h"
#include "host/file.h"
#include "prove/nowhere.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN_LEAST = 18, COLUMN_MOST = 40, SOURCE_LEAST = 16, HEAD = 12, TAIL = 40, BY_LINES = 6 };

struct source {
    char *path;
    struct dh_bytes text; /* empty: cannot be read */
};

struct show {
    struct dh_str *out;
    struct dh_subject *s;
    unsigned width, columns, column;
    bool by_lines; /* no columns: too many threads */
    DH_VEC(struct source) sources;
};

/* ---- the source ---- */

/* The path may be relative to any folder above. */
static bool read_from_above(struct source *f, const char *folder)
{
    char *base = dh_strdup(folder);
    bool ok = false;
    for (char *slash; !ok && (slash = strrchr(base, '/'));) {
        struct dh_err ignored = {0};
        *slash = 0;
        char *path = dh_format("%s/%s", base, f->path);
        ok = dh_file_read(path, &f->text, &ignored);
        dh_err_release(&ignored);
        free(path);
    }
    free(base);
    return ok;
}

static void read_source(const struct show *w, struct source *f)
{
    struct dh_err ignored = {0};
    char *here = dh_path_absolute("x");
    if (f->path[0] == '/')
        dh_file_read(f->path, &f->text, &ignored);
    else if (!read_from_above(f, here))
        read_from_above(f, w->s->program);
    dh_err_release(&ignored);
    free(here);
}

static struct source *source_of(struct show *w, const char *path)
{
    for (size_t i = 0; i < w->sources.n; i++)
        if (strcmp(w->sources.at[i].path, path) == 0)
            return &w->sources.at[i];
    struct source f = {.path = dh_strdup(path)};
    read_source(w, &f);
    dh_vec_push(&w->sources, f);
    return &w->sources.at[w->sources.n - 1];
}

/* The line without its indentation; "": cannot be read. Owned by the caller. */
static char *source_line(struct show *w, const char *path, unsigned line)
{
    const struct source *f = source_of(w, path);
    const char *at = (const char *)f->text.at, *end = at + f->text.n;
    while (at && line > 1 && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
        line--;
    }
    if (!at || at >= end)
        return dh_strdup("");
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    while (at < stop && (*at == ' ' || *at == '\t'))
        at++;
    return dh_format("%.*s", (int)(stop - at), at);
}

/* ---- one step ---- */

static bool is_access(uint8_t kind)
{
    return kind == DH_STEP_READ || kind == DH_STEP_WRITE || kind == DH_STEP_RMW || kind == DH_STEP_COPY;
}

static void add_operation(struct dh_str *out, uint8_t kind, uint64_t object, const struct dh_site *site,
                          const struct dh_site_table *t)
{
    const char *name = site ? dh_site_string(t, site->variable) : "",
               *call = site ? dh_site_string(t, site->callee) : "";
    if (kind == DH_STEP_IO && *call)
        dh_str_addf(out, "%s()", call);
    else if (kind == DH_STEP_CREATE || kind == DH_STEP_JOIN)
        dh_str_addf(out, "%s T%llu", dh_step_name(kind), (unsigned long long)object);
    else if (kind == DH_STEP_NONE && site)
        dh_str_addf(out, "%s %s", dh_op_info(site->op)->name, name);
    else if (kind == DH_STEP_BEGIN || kind == DH_STEP_END)
        dh_str_addf(out, "%ss", dh_step_name(kind));
    else if (kind == DH_STEP_FLUSH)
        dh_str_add(out, dh_step_name(kind));
    else
        dh_str_addf(out, "%s%s%s", dh_step_name(kind), *name ? " " : "", name);
}

/* The engine uses place 0 for calls of code that is not instrumented, too. */
static bool is_nowhere(uint32_t place, uint8_t kind, const struct dh_site *site)
{
    return kind == DH_STEP_BEGIN || kind == DH_STEP_END || dh_is_nowhere(place, kind, site);
}

static const struct dh_site *site_of(const struct show *w, uint32_t place, uint8_t kind, const struct dh_site_table **t)
{
    const struct dh_site *site = dh_place_names_site(w->s->places, place, t);
    return is_nowhere(place, kind, site) ? NULL : site;
}

/* "bank.c:12 read balance", owned by the caller. */
static char *step_text(const struct show *w, uint32_t place, uint8_t kind, uint64_t object)
{
    const struct dh_site_table *t;
    const struct dh_site *site = site_of(w, place, kind, &t);
    struct dh_str s = {0};
    if (site && site->line)
        dh_str_addf(&s, "%s:%u ", dh_basename(dh_site_string(t, site->file)), site->line);
    add_operation(&s, kind, object, site, t);
    return dh_str_take(&s);
}

/* The thread's column, and the source at the right, if there is room. What does not fit ends with "..". */
static void put_line(struct show *w, uint32_t thread, const char *mark, const char *words, uint32_t place, uint8_t kind)
{
    const struct dh_site_table *t;
    const struct dh_site *site = site_of(w, place, kind, &t);
    bool columns = !w->by_lines;
    unsigned from = columns ? thread * w->column : 6,
             right = (columns ? w->columns : 1) * w->column + (columns ? 0 : 6);
    size_t began = w->out->n;
    if (columns)
        dh_str_addf(w->out, "%*s", (int)from, "");
    else
        dh_str_addf(w->out, "T%-4u ", thread);
    unsigned room = w->column - 1 - (unsigned)strlen(mark);
    bool fits = strlen(words) <= room;
    dh_str_addf(w->out, "%s%.*s%s", mark, (int)(fits ? room : room - 2), words, fits ? "" : "..");
    char *line = site && site->line ? source_line(w, dh_site_string(t, site->file), site->line) : dh_strdup("");
    if (line[0] && right + SOURCE_LEAST <= w->width) {
        unsigned left = w->width - right - 2;
        unsigned used = (unsigned)(w->out->n - began);
        fits = strlen(line) <= left;
        dh_str_addf(w->out, "%*s| %.*s%s", (int)(right - used), "", (int)(fits ? left : left - 2), line,
                    fits ? "" : "..");
    }
    dh_str_add(w->out, "\n");
    free(line);
}

static void add_value(struct dh_str *out, const char *sign, uint64_t value, uint32_t size, const char *type)
{
    uint8_t bytes[sizeof value];
    memcpy(bytes, &value, sizeof bytes);
    char *text = dh_value_text(bytes, size, type);
    dh_str_addf(out, "%s%s", sign, text);
    free(text);
}

/* The value that was read or written; both of an update that changed it. */
static void add_values(struct dh_str *out, const struct show *w, const struct dh_engine_decision *d,
                       const struct dh_engine_value *v)
{
    const struct dh_site_table *t;
    const struct dh_site *site = site_of(w, d->place, d->kind, &t);
    if (!site || !v->size || v->size > 8 || site->size != v->size || !is_access(d->kind) || d->kind == DH_STEP_COPY)
        return;
    const char *type = dh_site_string(t, site->type);
    bool before = v->has & 1 && d->kind != DH_STEP_WRITE, after = v->has & 2 && d->kind != DH_STEP_READ;
    if (before)
        add_value(out, " = ", v->before, v->size, type);
    if (after && (!before || v->after != v->before))
        add_value(out, before ? " -> " : " = ", v->after, v->size, type);
}

/* "bank.c:12 stale read balance" of a load that did not get the newest value. Owned by the caller. */
static char *decision_text(const struct show *w, const struct dh_engine_decision *d)
{
    char *words = step_text(w, d->place, d->kind, d->object);
    const char *operation = strchr(words, ' ');
    if (!d->alternative || !is_access(d->kind) || !operation)
        return words;
    char *stale = dh_format("%.*s stale%s", (int)(operation - words), words, operation);
    free(words);
    return stale;
}

static char *decision_text_with_values(const struct show *w, const struct dh_schedule *schedule, uint32_t i)
{
    const struct dh_engine_decision *d = &schedule->decisions[i];
    char *words = decision_text(w, d);
    struct dh_str s = {0};
    dh_str_add(&s, words);
    free(words);
    if (schedule->values)
        add_values(&s, w, d, &schedule->values[i]);
    return dh_str_take(&s);
}

static void put_step(struct show *w, const struct dh_schedule *schedule, uint32_t i, unsigned times)
{
    const struct dh_engine_decision *d = &schedule->decisions[i];
    /* The last value of several. */
    char *words = decision_text_with_values(w, schedule, i + times - 1);
    struct dh_str s = {0};
    dh_str_add(&s, words);
    if (d->alternative && !is_access(d->kind))
        dh_str_addf(&s, " (way %u)", d->alternative);
    if (times > 1)
        dh_str_addf(&s, " (%u times)", times);
    put_line(w, d->thread, "", s.at, d->place, d->kind);
    dh_str_release(&s);
    free(words);
}

static bool is_same_step(const struct dh_engine_decision *a, const struct dh_engine_decision *b)
{
    bool others = a->kind == DH_STEP_CREATE || a->kind == DH_STEP_JOIN; /* of different threads */
    return !others && a->thread == b->thread && a->place == b->place && a->kind == b->kind &&
           a->alternative == b->alternative;
}

static void put_heads(struct show *w)
{
    if (w->by_lines)
        return;
    for (unsigned t = 0; t < w->columns; t++)
        dh_str_addf(w->out, "T%u%-*s", t, t + 1 < w->columns ? (int)w->column - 2 : 0, t ? "" : " main");
    dh_str_add(w->out, "\n");
}

/* How many entries that is, 1 or 0. */
static uint32_t put_undisturbed(struct show *w, const struct dh_schedule *s)
{
    if (!s->n || !dh_engine_is_undisturbed(s->decisions))
        return 0;
    dh_str_addf(w->out, "  ... %llu steps undisturbed, %u of each thread in turn ...\n",
                (unsigned long long)s->decisions->object, s->decisions->occurrence);
    return 1;
}

/* ---- rounds ---- */

/* Threads that look around in vain do the same again and again until a schedule is taken for one without end. */
enum { ROUND_MOST = 256, ROUNDS_LEAST = 3 };

static uint32_t rounds_of(const struct dh_schedule *s, uint32_t from, uint32_t length)
{
    uint32_t same = 0;
    while (from + length + same < s->n && is_same_step(&s->decisions[from + same], &s->decisions[from + length + same]))
        same++;
    return 1 + same / length;
}

/* How often the steps from there on, of which `length` gets the number, come in a row; 0: not often. */
static uint32_t find_rounds(const struct dh_schedule *s, uint32_t from, uint32_t *length)
{
    for (*length = 2; *length <= ROUND_MOST && from + *length * ROUNDS_LEAST <= s->n; ++*length) {
        uint32_t rounds = rounds_of(s, from, *length);
        if (rounds >= ROUNDS_LEAST)
            return rounds;
    }
    return 0;
}

/* A line of the text: one step, `times` in a row; or after a round, that there were more of them. */
struct line {
    uint32_t from, times, length, rounds;
};
typedef DH_VEC(struct line) line_vec;

static void add_steps(const struct dh_schedule *s, uint32_t from, uint32_t end, line_vec *lines)
{
    for (uint32_t i = from, k; i < end; i = k) {
        for (k = i + 1; k < end && is_same_step(&s->decisions[i], &s->decisions[k]);)
            k++;
        dh_vec_push(lines, (struct line){.from = i, .times = k - i});
    }
}

static uint32_t end_of_repeats(const struct dh_schedule *s, uint32_t from)
{
    uint32_t k = from + 1;
    while (k < s->n && is_same_step(&s->decisions[from], &s->decisions[k]))
        k++;
    return k;
}

static void make_lines(const struct dh_schedule *s, uint32_t from, bool whole, line_vec *lines)
{
    for (uint32_t i = from, length; i < s->n;) {
        uint32_t end = end_of_repeats(s, i);
        uint32_t rounds = whole || end - i >= ROUNDS_LEAST ? 0 : find_rounds(s, i, &length);
        if (!rounds) {
            add_steps(s, i, end, lines);
            i = end;
            continue;
        }
        add_steps(s, i, i + length, lines);
        dh_vec_push(lines, (struct line){.from = i + length, .length = length, .rounds = rounds - 1});
        i += length * rounds;
    }
}

static uint32_t steps_of(const struct line *l)
{
    return l->times + l->length * l->rounds;
}

static void put_one(struct show *w, const struct dh_schedule *s, const struct line *l)
{
    if (l->rounds)
        dh_str_addf(w->out, "  ... these %u steps %u times more ...\n", l->length, l->rounds);
    else
        put_step(w, s, l->from, l->times);
}

static void put_steps(struct show *w, const struct dh_schedule *s, bool whole)
{
    line_vec lines = {0};
    make_lines(s, put_undisturbed(w, s), whole, &lines);
    bool cut = !whole && lines.n > HEAD + TAIL + 10;
    uint32_t left_out = 0;
    for (size_t i = 0; i < lines.n; i++) {
        if (cut && i >= HEAD && i < lines.n - TAIL) {
            left_out += steps_of(&lines.at[i]);
            continue;
        }
        if (left_out)
            dh_str_addf(w->out, "  ... %u steps ...\n", left_out);
        left_out = 0;
        put_one(w, s, &lines.at[i]);
    }
    dh_vec_release(&lines);
}

/* ---- the end ---- */

static const char *const end_words[DH_ENGINE_ENDS] = {
    [DH_ENGINE_DONE] = "the program has ended",
    [DH_ENGINE_RACE] = "both are about to access the same bytes, in either order",
    [DH_ENGINE_UNORDERED] = "nothing orders the two accesses",
    [DH_ENGINE_DEADLOCK] = "nobody can go on",
    [DH_ENGINE_LOST_WAKE] = "nobody can go on: the signal came when nobody waited",
    [DH_ENGINE_ASSERTION] = "an assertion fails, or the program aborts",
    [DH_ENGINE_CRASH] = "the program is killed by a signal",
    [DH_ENGINE_FREED] = "memory is used after it was freed",
    [DH_ENGINE_HANG] = "the program spins without end",
    [DH_ENGINE_ATOMICITY] = "a section is not as if it had run alone",
    [DH_ENGINE_CUT] = "cut",
    [DH_ENGINE_WRONG] = "the program ends as none of the runs that are right does",
};

static void put_end(struct show *w, const struct dh_engine_found *end)
{
    char *text = dh_subject_explain_places(w->s, end->text);
    dh_str_addf(w->out, "=> %s%s%s\n", end_words[end->kind < DH_ENGINE_ENDS ? end->kind : 0], text[0] ? ": " : "",
                text);
    free(text);
    for (uint32_t i = 0; i < end->n_parties && i < DH_ENGINE_PARTIES; i++) {
        const struct dh_engine_party *p = &end->parties[i];
        /* A thread that failed is past its step: only its place says what it was doing. */
        bool failed = end->kind == DH_ENGINE_ASSERTION || end->kind == DH_ENGINE_CRASH || end->kind == DH_ENGINE_FREED;
        uint32_t place = failed && !p->place ? UINT32_MAX : p->place;
        char *words = step_text(w, place, failed ? DH_STEP_NONE : p->kind, p->object);
        put_line(w, p->thread, is_access(p->kind) ? "* " : "# ", words, place, p->kind);
        free(words);
    }
}

/* The value of the bytes that race. */
static void put_value(struct show *w, const struct dh_engine_found *end)
{
    const struct dh_engine_party *p = &end->parties[0];
    const struct dh_site_table *t;
    const struct dh_site *site = dh_place_names_site(w->s->places, p->place, &t);
    if (end->kind != DH_ENGINE_RACE || !p->size || p->size > 8 || !site || site->size != p->size)
        return;
    uint8_t bytes[8];
    memcpy(bytes, &p->second, sizeof bytes);
    char *value = dh_value_text(bytes, p->size, dh_site_string(t, site->type));
    dh_str_addf(w->out, "   %s is %s\n", dh_site_string(t, site->variable), value);
    free(value);
}

static unsigned threads_in(const struct dh_schedule *s, const struct dh_engine_found *end)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->n; i++)
        most = s->decisions[i].thread > most ? s->decisions[i].thread : most;
    for (uint32_t i = 0; i < end->n_parties && i < DH_ENGINE_PARTIES; i++)
        most = end->parties[i].thread > most ? end->parties[i].thread : most;
    return most + 1;
}

/* Width of a column. */
static unsigned widest(const struct show *w, const struct dh_schedule *s, const struct dh_engine_found *end)
{
    size_t most = COLUMN_LEAST;
    for (uint32_t i = 0; i < s->n + end->n_parties && i < s->n + DH_ENGINE_PARTIES; i++) {
        const struct dh_engine_decision *d = i < s->n ? &s->decisions[i] : NULL;
        const struct dh_engine_party *p = d ? NULL : &end->parties[i - s->n];
        if (d && dh_engine_is_undisturbed(d))
            continue;
        char *words = d ? decision_text_with_values(w, s, i) : step_text(w, p->place, p->kind, p->object);
        size_t n = strlen(words) + (d ? 1 : 3);
        most = n > most ? n : most;
        free(words);
    }
    return most < COLUMN_MOST ? (unsigned)most : COLUMN_MOST;
}

void dh_schedule_text(struct dh_str *out, struct dh_subject *s, const struct dh_schedule *schedule,
                      const struct dh_engine_found *end, unsigned width, bool whole)
{
    struct show w = {.out = out, .s = s, .width = width < 60 ? 60 : width, .columns = threads_in(schedule, end)};
    w.column = widest(&w, schedule, end);
    w.by_lines = w.columns > BY_LINES || w.column * w.columns > w.width;
    put_heads(&w);
    put_steps(&w, schedule, whole);
    put_end(&w, end);
    put_value(&w, end);
    for (size_t i = 0; i < w.sources.n; i++) {
        free(w.sources.at[i].path);
        dh_bytes_release(&w.sources.at[i].text);
    }
    dh_vec_release(&w.sources);
}
