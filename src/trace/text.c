#include "trace/text.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/reader.h"
#include "base/vec.h"
#include "trace/text_keywords.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { APART = 64, FIELD = 8, DEFAULT_SIZE = 4, LOCK_SIZE = 8 };
#define FIRST_ADDRESS 0x100000u

/* Something that has a name in the text, and so an address of its own. */
struct named {
    const char *text;    /* the key of name_index */
    uint64_t at, extent; /* bytes that are spoken of */
    uint64_t size;       /* as it was allocated */
    bool allocated;      /* somewhere in the text: no global variable */
    DH_VEC(char *) fields;
};

struct dh_text {
    const char *name, *bytes, *end, *at;
    unsigned line;
    bool sizing; /* the first of two passes: how large names are, and whether all is well-formed */
    uint64_t seq;
    struct dh_err *err;
    DH_VEC(struct named) names; /* by number in name_index */
    struct dh_string_map name_index;
    struct dh_key_map site_index; /* of struct site_key; its numbers are those of `sites` */
    struct dh_site_builder *sites;
    struct dh_site_table table;
    struct dh_str word;
};

/* What tells sites apart. */
struct site_key {
    uint32_t file, line, variable, function, op;
};

/* One line while it is read. */
struct line {
    struct dh_event e;
    char *object, *var, *in, *file, *mutex, *about;
    unsigned number; /* of FILE:LINE */
    uint64_t size, with, ctx;
    bool has_size;
    unsigned order, op, class, region;
};

static bool expected(struct dh_text *t, const char *what, const char *got)
{
    char shown[64];
    dh_span_show(dh_span_of(got), shown, sizeof shown);
    return dh_err_set(t->err, "%s:%u: expected %s, not '%s'", t->name, t->line, what, shown);
}

/* ---- tables ---- */

static struct named *find_name(const struct dh_text *t, const char *text)
{
    uint32_t i = dh_string_map_seek(&t->name_index, text);
    return i == DH_ABSENT ? NULL : &t->names.at[i];
}

static struct named *name_of(struct dh_text *t, const char *text)
{
    uint32_t i = dh_string_map_number(&t->name_index, text);
    if (i == t->names.n)
        dh_vec_push(&t->names, (struct named){.text = t->name_index.at[i].key});
    return &t->names.at[i];
}

static uint64_t field_offset(struct named *n, const char *field)
{
    size_t i = 0;
    while (i < n->fields.n && strcmp(n->fields.at[i], field))
        i++;
    if (i == n->fields.n)
        dh_vec_push(&n->fields, dh_strdup(field));
    return i * FIELD;
}

/* ---- words ---- */

/* The next word of the line into t->word; quotes keep spaces together and vanish. False at the end of the line. */
static bool next_word(struct dh_text *t, const char **at, const char *end)
{
    bool quoted = false;
    while (*at < end && isspace((unsigned char)**at))
        ++*at;
    if (*at == end || **at == '#')
        return false;
    dh_str_clear(&t->word);
    dh_str_add_n(&t->word, "", 0);
    for (; *at < end && (quoted || !isspace((unsigned char)**at)); ++*at) {
        if (**at == '"') {
            quoted = !quoted;
            continue;
        }
        if (quoted && **at == '\\' && *at + 1 < end)
            ++*at;
        if (**at)
            dh_str_add_n(&t->word, *at, 1);
    }
    return true;
}

static bool number(const char *text, uint64_t limit, uint64_t *out)
{
    struct dh_cursor c = dh_cursor_of(text, strlen(text));
    return dh_cursor_take_address(&c, limit, out) && dh_cursor_is_end(&c);
}

static bool word_value(struct dh_text *t, const struct dh_text_keyword *words, const char *text, const char *what,
                       unsigned *out)
{
    struct dh_str list = {0};
    for (const struct dh_text_keyword *w = words; w->name; w++) {
        if (strcmp(w->name, text) == 0) {
            *out = w->value;
            dh_str_release(&list);
            return true;
        }
        dh_str_addf(&list, "%s%s", list.n ? "|" : "", w->name);
    }
    char *all = dh_format("%s=%s", what, list.at);
    expected(t, all, text);
    free(all);
    dh_str_release(&list);
    return false;
}

static bool keep(char **to, const char *text)
{
    free(*to);
    *to = dh_strdup(text);
    return true;
}

/* ---- keys ---- */

/* NAME=VALUE: one of `words`, or a number of at most `most`, or any text, for the field at `offset` of struct line. */
static const struct key {
    const char *name;
    size_t offset;
    const struct dh_text_keyword *words;
    uint64_t most;
    const char *expected;
} keys[] = {{"size", offsetof(struct line, size), NULL, 1ull << 40, "size=BYTES"},
            {"order", offsetof(struct line, order), dh_text_orders, 0, NULL},
            {"op", offsetof(struct line, op), dh_text_ops, 0, NULL},
            {"class", offsetof(struct line, class), dh_text_classes, 0, NULL},
            {"region", offsetof(struct line, region), dh_text_regions, 0, NULL},
            {"mutex", offsetof(struct line, mutex), NULL, 0, NULL},
            {"var", offsetof(struct line, var), NULL, 0, NULL},
            {"in", offsetof(struct line, in), NULL, 0, NULL},
            {"with", offsetof(struct line, with), NULL, DH_RUN_THREADS_MAX - 1, "with=THREAD"},
            {"ctx", offsetof(struct line, ctx), NULL, UINT32_MAX, "ctx=NUMBER"},
            {"object", offsetof(struct line, about), NULL, 0, NULL}};

static bool take_value(struct dh_text *t, struct line *l, const struct key *k, const char *value)
{
    char *field = (char *)l + k->offset;
    if (k->words)
        return word_value(t, k->words, value, k->name, (unsigned *)(void *)field);
    if (!k->most)
        return keep((char **)(void *)field, value);
    l->has_size |= k->offset == offsetof(struct line, size);
    return number(value, k->most, (uint64_t *)(void *)field) || expected(t, k->expected, value);
}

static bool take_key(struct dh_text *t, struct line *l, char *word)
{
    char *equals = strchr(word, '=');
    *equals = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].name, word) == 0)
            return take_value(t, l, &keys[i], equals + 1);
    return expected(t, "one of the keys size, order, op, class, region, mutex, var, in, object, with, ctx", word);
}

static bool take_place(struct dh_text *t, struct line *l, char *word)
{
    char *colon = strrchr(word, ':');
    uint64_t n;
    if (!colon || colon == word || !number(colon + 1, UINT32_MAX, &n))
        return expected(t, "@FILE:LINE", word);
    *colon = 0;
    l->number = (unsigned)n;
    return keep(&l->file, word);
}

static const struct dh_text_keyword *flag_of(const char *word)
{
    for (const struct dh_text_keyword *w = dh_text_flags; w->name; w++)
        if (strcmp(w->name, word) == 0)
            return w;
    return NULL;
}

static bool take_option(struct dh_text *t, struct line *l)
{
    const struct dh_text_keyword *flag = flag_of(t->word.at);
    if (t->word.at[0] == '@')
        return take_place(t, l, t->word.at + 1);
    if (strchr(t->word.at, '='))
        return take_key(t, l, t->word.at);
    if (!flag)
        return expected(t, "KEY=VALUE, a flag (shared try again wait timed library foreign) or @FILE:LINE", t->word.at);
    l->e.flags |= (uint8_t)flag->value;
    return true;
}

/* ---- objects ---- */

static void reach(struct named *n, uint64_t extent)
{
    if (n->extent < extent)
        n->extent = extent;
}

/* The address of NAME, NAME.FIELD, NAME+OFFSET or 0xHEX; `size` bytes from there are its. */
static bool resolve(struct dh_text *t, const char *spelled, uint64_t size, uint64_t *addr)
{
    uint64_t offset = 0;
    if (isdigit((unsigned char)spelled[0]))
        return number(spelled, UINT64_MAX, addr) || expected(t, "an address such as 0x7f00", spelled);
    if (!isalpha((unsigned char)spelled[0]) && spelled[0] != '_')
        return expected(t, "NAME, NAME+OFFSET or 0xADDRESS", spelled);
    char *base = dh_strdup(spelled), *plus = strrchr(base, '+');
    if (plus && !number(plus + 1, 1u << 30, &offset)) {
        free(base);
        return expected(t, "NAME+OFFSET", spelled);
    }
    if (plus)
        *plus = 0;
    size_t n = strcspn(base, ".-");
    const char *field = base[n] == '.' ? base + n + 1 : base[n] && base[n + 1] == '>' ? base + n + 2 : NULL;
    if (field)
        base[n] = 0;
    struct named *named = name_of(t, base);
    if (field)
        offset += field_offset(named, field);
    if (t->sizing)
        reach(named, offset + size);
    *addr = named->at + offset;
    free(base);
    return true;
}

static bool take_object(struct dh_text *t, struct line *l, enum dh_text_object takes)
{
    uint64_t n = 0;
    if (takes == DH_OBJECT_THREAD || takes == DH_OBJECT_MAYBE_THREAD) {
        if (!number(t->word.at, DH_RUN_THREADS_MAX - 1, &n))
            return expected(t, "the index of a thread", t->word.at);
        l->e.arg = n;
        return true;
    }
    return keep(&l->object, t->word.at);
}

static bool is_option(const char *word)
{
    return word[0] == '@' || strchr(word, '=') || flag_of(word);
}

/* ---- what an event says beside its object ---- */

static bool spans_memory(unsigned kind)
{
    unsigned group = dh_event_info(kind)->group;
    return group == DH_EVENTS_ACCESS || kind == DH_EVENT_ATOMIC || group == DH_EVENTS_COLLISION;
}

/* The object begins: with the bytes that the line or the rest of the text says. */
static bool finish_memory(struct dh_text *t, struct line *l)
{
    struct named *n = l->object ? find_name(t, l->object) : NULL;
    if (!l->has_size && !n)
        return expected(t, "size=BYTES", "nothing");
    if (l->e.kind == DH_EVENT_ALLOC && n) {
        n->allocated = true;
        n->size = l->has_size ? l->size : n->extent;
    }
    l->e.arg = l->has_size ? l->size : n->size && !t->sizing ? n->size : n->extent;
    l->e.flags = (uint8_t)l->region;
    return true;
}

static uint64_t atomic_arg(const struct line *l)
{
    bool wrote = l->op != DH_OP_ATOMIC_LOAD && !(l->op & DH_TEXT_CAS_FAILED);
    return (l->op & 0xFF) | (uint64_t)l->order << 8 | (l->size & 0xFFFF) << 16 | (uint64_t)wrote << 32;
}

static bool finish_arg(struct dh_text *t, struct line *l)
{
    unsigned group = dh_event_info(l->e.kind)->group;
    if (group == DH_EVENTS_ACCESS)
        l->e.arg = l->size;
    else if (l->e.kind == DH_EVENT_ATOMIC)
        l->e.arg = atomic_arg(l);
    else if (l->e.kind == DH_EVENT_FENCE)
        l->e.arg = l->order;
    else if (group == DH_EVENTS_MEMORY)
        return finish_memory(t, l);
    else if (group == DH_EVENTS_ORDER || group == DH_EVENTS_WAIT)
        l->e.arg = l->class;
    else if (group == DH_EVENTS_COLLISION)
        l->e.arg = l->with << 32 | (l->size & UINT32_MAX);
    else if (group == DH_EVENTS_CONDITION && l->mutex)
        return resolve(t, l->mutex, LOCK_SIZE, &l->e.arg);
    return true;
}

static bool finish_object(struct dh_text *t, struct line *l)
{
    const char *spelled = l->object ? l->object : l->about;
    uint64_t size = spans_memory(l->e.kind)                                      ? l->size
                    : dh_event_info(l->e.kind)->group == DH_EVENTS_MEMORY        ? l->has_size ? l->size : 0
                    : l->e.kind == DH_EVENT_ENTER || l->e.kind == DH_EVENT_LEAVE ? 0
                                                                                 : LOCK_SIZE;
    return !spelled || resolve(t, spelled, size, &l->e.addr);
}

/* ---- places ---- */

static uint32_t site_of(struct dh_text *t, const struct line *l, const char *variable, const char *field)
{
    struct dh_site row = {.file = dh_site_builder_string(t->sites, l->file),
                          .line = l->number,
                          .function = dh_site_builder_string(t->sites, l->in),
                          .variable = dh_site_builder_string(t->sites, variable),
                          .inlined = DH_NO_CHAIN,
                          .op = (uint8_t)dh_text_op_of(&l->e)};
    struct site_key key = {row.file, row.line, row.variable, row.function, row.op};
    uint32_t known = t->site_index.n, id = dh_key_map_number(&t->site_index, &key);
    if (id < known)
        return id;
    char *name = dh_format("%s:%s:%s:%s#%u", dh_basename(l->file ? l->file : ""), l->in ? l->in : "", variable,
                           dh_op_info(row.op)->letters, l->number);
    row.field = dh_site_builder_string(t->sites, field);
    row.name = dh_site_builder_string(t->sites, name);
    row.size = spans_memory(l->e.kind) ? (uint32_t)l->size : 0;
    row.order = (uint8_t)(l->e.kind == DH_EVENT_ATOMIC || l->e.kind == DH_EVENT_FENCE ? l->order : 0);
    free(name);
    return dh_site_builder_add(t->sites, &row);
}

static void finish_place(struct dh_text *t, struct line *l)
{
    l->e.site = DH_NO_PLACE;
    if (!l->file && !l->var && !l->in)
        return;
    bool spelled = !l->var && l->object && !isdigit((unsigned char)l->object[0]);
    char *variable = dh_strdup(l->var ? l->var : spelled ? l->object : "");
    if (spelled)
        variable[strcspn(variable, "+")] = 0;
    const char *dot = strrchr(variable, '.');
    l->e.site = site_of(t, l, variable, dot ? dot + 1 : "");
    free(variable);
}

/* ---- lines ---- */

static bool take_kind(struct dh_text *t, struct line *l)
{
    for (unsigned kind = 1; kind < DH_EVENT_COUNT; kind++)
        if (strcmp(dh_event_info(kind)->name, t->word.at) == 0) {
            l->e.kind = (uint8_t)kind;
            return true;
        }
    return expected(t, "a kind of event (read, write, lock, ...)", t->word.at);
}

static bool take_head(struct dh_text *t, struct line *l, const char **at, const char *end)
{
    uint64_t n;
    if (!number(t->word.at, DH_RUN_THREADS_MAX - 1, &n))
        return expected(t, "the index of a thread", t->word.at);
    l->e.thread = (uint32_t)n;
    if (!next_word(t, at, end))
        return expected(t, "a kind of event (read, write, lock, ...)", "nothing");
    return take_kind(t, l);
}

static bool take_rest(struct dh_text *t, struct line *l, const char **at, const char *end)
{
    enum dh_text_object takes = dh_text_object_of(l->e.kind);
    bool must = takes == DH_OBJECT_MEMORY || takes == DH_OBJECT_THREAD;
    bool more = next_word(t, at, end);
    if (must && (!more || t->word.at[0] == '@'))
        return expected(t, takes == DH_OBJECT_THREAD ? "the index of a thread" : "NAME, NAME+OFFSET or 0xADDRESS",
                        more ? t->word.at : "nothing");
    if (more && takes != DH_OBJECT_NONE && (must || !is_option(t->word.at))) {
        if (!take_object(t, l, takes))
            return false;
        more = next_word(t, at, end);
    }
    for (; more; more = next_word(t, at, end))
        if (!take_option(t, l))
            return false;
    return true;
}

static void release_line(struct line *l)
{
    char *const texts[] = {l->object, l->var, l->in, l->file, l->mutex, l->about};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

static bool is_ordered(unsigned kind)
{
    return !(dh_event_info(kind)->group & (DH_EVENTS_ACCESS | DH_EVENTS_SCOPE | DH_EVENTS_COLLISION));
}

/* The line at [at, end) has a word already. */
static bool read_line(struct dh_text *t, const char *at, const char *end, struct dh_event *e)
{
    struct line l = {.size = DEFAULT_SIZE, .order = DH_ORDER_SEQ_CST, .op = DH_OP_ATOMIC_RMW};
    bool ok = take_head(t, &l, &at, end) && take_rest(t, &l, &at, end) && finish_object(t, &l) && finish_arg(t, &l);
    if (ok) {
        finish_place(t, &l);
        l.e.ctx = (uint32_t)l.ctx;
        l.e.seq = is_ordered(l.e.kind) ? ++t->seq : 0;
        *e = l.e;
    }
    release_line(&l);
    return ok;
}

enum answer { AT_END, READ, MALFORMED };

static enum answer next_event(struct dh_text *t, struct dh_event *e)
{
    while (t->at < t->end) {
        const char *at = t->at, *end = memchr(at, '\n', (size_t)(t->end - at));
        end = end ? end : t->end;
        t->at = end < t->end ? end + 1 : end;
        t->line++;
        if (next_word(t, &at, end))
            return read_line(t, at, end, e) ? READ : MALFORMED;
    }
    return AT_END;
}

static void place_names(struct dh_text *t)
{
    uint64_t at = FIRST_ADDRESS;
    for (size_t i = 0; i < t->names.n; i++) {
        struct named *n = &t->names.at[i];
        n->extent = n->extent ? n->extent : APART;
        n->at = at;
        at += (n->extent + APART - 1) / APART * APART;
    }
}

static bool size_up(struct dh_text *t, struct dh_err *err)
{
    struct dh_event e;
    enum answer a;
    t->err = err;
    t->sizing = true;
    while ((a = next_event(t, &e)) == READ)
        ;
    place_names(t);
    t->table = dh_site_builder_view(t->sites);
    t->sizing = false;
    t->at = t->bytes;
    t->line = 0;
    t->seq = 0;
    t->err = NULL;
    return a == AT_END;
}

struct dh_text *dh_text_new(const char *name, const char *bytes, size_t n, struct dh_err *err)
{
    struct dh_text *t = DH_NEW(struct dh_text);
    t->site_index = (struct dh_key_map)DH_KEY_MAP(struct site_key);
    t->name = name;
    t->bytes = t->at = bytes;
    t->end = bytes + n;
    t->sites = dh_site_builder_new();
    if (size_up(t, err))
        return t;
    dh_text_free(t);
    return NULL;
}

void dh_text_free(struct dh_text *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->names.n; i++) {
        struct named *n = &t->names.at[i];
        for (size_t k = 0; k < n->fields.n; k++)
            free(n->fields.at[k]);
        dh_vec_release(&n->fields);
    }
    dh_vec_release(&t->names);
    dh_string_map_release(&t->name_index);
    dh_key_map_release(&t->site_index);
    dh_site_builder_free(t->sites);
    dh_str_release(&t->word);
    free(t);
}

bool dh_text_next(struct dh_text *t, struct dh_event *e)
{
    struct dh_err ignored = {0};
    t->err = &ignored;
    bool more = next_event(t, e) == READ;
    dh_err_release(&ignored);
    return more;
}

void dh_text_progress(const struct dh_text *t, size_t *at, size_t *of)
{
    *at = (size_t)(t->at - t->bytes);
    *of = (size_t)(t->end - t->bytes);
}

/* ---- for the world ---- */

static const struct named *name_around(const struct dh_text *t, uint64_t addr)
{
    size_t low = 0, high = t->names.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->names.at[middle].at <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    const struct named *n = low ? &t->names.at[low - 1] : NULL;
    return n && addr - n->at < n->extent ? n : NULL;
}

static const struct dh_site *host_site(void *arg, uint32_t place, const struct dh_site_table **table)
{
    const struct dh_text *t = arg;
    *table = &t->table;
    return place < t->table.n_sites ? &t->table.sites[place] : NULL;
}

static bool host_global(void *arg, uint64_t addr, uint64_t *at, uint64_t *size)
{
    const struct named *n = name_around(arg, addr);
    if (!n || n->allocated)
        return false;
    *at = n->at;
    *size = n->extent;
    return true;
}

void dh_text_host(struct dh_text *t, struct dh_run_host *host)
{
    host->site = host_site;
    host->global = host_global;
    host->arg = t;
}

char *dh_text_name(const struct dh_text *t, uint64_t addr)
{
    const struct named *n = name_around(t, addr);
    if (!n)
        return dh_strdup("");
    uint64_t offset = addr - n->at;
    if (offset % FIELD == 0 && offset / FIELD < n->fields.n)
        return dh_format("%s.%s", n->text, n->fields.at[offset / FIELD]);
    return offset ? dh_format("%s+%llu", n->text, (unsigned long long)offset) : dh_strdup(n->text);
}
