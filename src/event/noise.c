#include "event/noise.h"

#include "base/reader.h"

/* As the paper's 50/50: one access of twenty, fifty microseconds (its unit is another). */
enum { FREQUENCY = 50, NANOSECONDS = 50000, SECOND = 1000000000 };

struct reader {
    const char *text;
    struct dh_noise_error *error;
};

static bool fail(struct reader *r, struct dh_span found, const char *expected)
{
    char shown[sizeof r->error->text];
    *r->error = (struct dh_noise_error){.column = (unsigned)(found.at - r->text) + 1};
    dh_span_show(found, shown, sizeof shown);
    if (found.n)
        DH_MESSAGE(r->error->text, "expected ", expected, ", found '", shown, "'");
    else
        DH_MESSAGE(r->error->text, "expected ", expected, ", found nothing");
    return false;
}

/* The number that it begins with, and what follows that. */
static bool read_number(struct dh_span s, uint32_t *out, struct dh_span *unit)
{
    struct dh_cursor c = dh_cursor_of(s.at, s.n);
    uint64_t value;
    if (!dh_cursor_take_number(&c, UINT32_MAX, &value))
        return false;
    *out = (uint32_t)value;
    *unit = dh_cursor_rest(&c);
    return true;
}

static bool read_frequency(struct reader *r, struct dh_span s, struct dh_noise_clause *c)
{
    uint32_t value;
    struct dh_span unit;
    if (!read_number(s, &value, &unit) || unit.n || value > 1000)
        return fail(r, s, "a frequency from 0 (never) to 1000 (every time)");
    c->frequency = (uint16_t)value;
    return true;
}

static bool read_strength(struct reader *r, struct dh_span s, struct dh_noise_clause *c)
{
    static const char *const units[] = {"us", "", "ns", "ms", "s"};
    static const uint32_t nanoseconds[] = {1000, 1000, 1, 1000000, SECOND};
    uint32_t value;
    struct dh_span unit;
    int i = read_number(s, &value, &unit) ? dh_span_which(unit, units, sizeof units / sizeof *units) : -1;
    if (i < 0 || value > SECOND / nanoseconds[i])
        return fail(r, s, "a strength as 500ns, 50us or 2ms, at most 1s");
    c->nanoseconds = value * nanoseconds[i];
    return true;
}

static bool read_how(struct reader *r, struct dh_span s, struct dh_noise_clause *c)
{
    static const char *const hows[] = {
        [DH_NOISE_SLEEP] = "sleep", [DH_NOISE_YIELD] = "yield", [DH_NOISE_BUSY] = "busy"};
    int i = dh_span_which(s, hows, DH_NOISE_HOWS);
    c->how = (uint8_t)i;
    return i >= 0 || fail(r, s, "sleep, yield or busy");
}

/* ,FREQUENCY[,STRENGTH[,HOW]] */
static bool read_parameters(struct reader *r, struct dh_cursor at, struct dh_noise_clause *c)
{
    static bool (*const readers[])(struct reader *, struct dh_span,
                                   struct dh_noise_clause *) = {read_frequency, read_strength, read_how};
    for (unsigned i = 0; dh_cursor_take_literal(&at, ","); i++) {
        struct dh_span s = dh_cursor_take_until(&at, ',');
        if (i == sizeof readers / sizeof *readers)
            return fail(r, s, "nothing behind frequency, strength and how");
        if (!readers[i](r, s, c))
            return false;
    }
    return true;
}

/* A name goes up to the first comma outside of brackets, which names of templates have. */
static struct dh_span take_name(struct dh_cursor *c)
{
    struct dh_span s = {c->at, 0};
    for (int depth = 0; c->at < c->end && (*c->at != ',' || depth > 0); c->at++)
        depth += (*c->at == '<' || *c->at == '(') - (*c->at == '>' || *c->at == ')');
    s.n = (size_t)(c->at - s.at);
    return s;
}

static bool is_line(struct dh_span s)
{
    size_t colon = s.n;
    uint32_t line;
    struct dh_span unit;
    while (colon && s.at[colon - 1] != ':')
        colon--;
    return colon > 1 && read_number((struct dh_span){s.at + colon, s.n - colon}, &line, &unit) && !unit.n;
}

static bool read_target(struct reader *r, struct dh_cursor at, struct dh_noise_clause *c)
{
    struct dh_span name = take_name(&at);
    c->name = name.at;
    c->n_name = name.n;
    if (c->kind == DH_NOISE_VARIABLE && (!name.n || (*name.at == '@' && !dh_span_is(name, "@suspected"))))
        return fail(r, name, "the name of a variable, or @suspected");
    if (c->kind == DH_NOISE_LOCATION && !dh_span_is(name, "@findings") && !is_line(name))
        return fail(r, name, "FILE:LINE, or @findings");
    return read_parameters(r, at, c);
}

static bool read_budget(struct reader *r, struct dh_span s, struct dh_noise_clause *c)
{
    struct dh_span unit;
    if (!read_number(s, &c->percent, &unit) || !dh_span_is(unit, "%") || !c->percent || c->percent > 10000)
        return fail(r, s, "a budget as 20%");
    return true;
}

/* What a clause begins with, up to ':' or ','. */
static uint8_t take_kind(struct dh_cursor *c)
{
    static const char *const words[] = {[DH_NOISE_RANDOM] = "random",
                                        [DH_NOISE_SYNC] = "sync",
                                        [DH_NOISE_VARIABLE] = "var:",
                                        [DH_NOISE_LOCATION] = "loc:",
                                        [DH_NOISE_AUTO] = "auto:"};
    for (uint8_t i = 0; i < DH_NOISE_KINDS; i++) {
        struct dh_cursor now = *c;
        bool ends = i == DH_NOISE_RANDOM || i == DH_NOISE_SYNC;
        if (dh_cursor_take_literal(&now, words[i]) && (!ends || dh_cursor_is_end(&now) || *now.at == ',')) {
            *c = now;
            return i;
        }
    }
    return DH_NOISE_KINDS;
}

static bool read_clause(struct reader *r, struct dh_span all, struct dh_noise *noise, unsigned *groups)
{
    struct dh_cursor at = dh_cursor_of(all.at, all.n);
    struct dh_noise_clause c = {.kind = take_kind(&at), .frequency = FREQUENCY, .nanoseconds = NANOSECONDS};
    bool has_target = c.kind == DH_NOISE_VARIABLE || c.kind == DH_NOISE_LOCATION;
    if (c.kind == DH_NOISE_KINDS)
        return fail(r, all, "random, sync, var:NAME, loc:FILE:LINE or auto:N%");
    if (noise->n == DH_NOISE_CLAUSES)
        return fail(r, all, "at most 8 clauses");
    c.group = has_target ? (uint8_t)(*groups)++ : 0;
    bool ok = has_target                ? read_target(r, at, &c)
              : c.kind == DH_NOISE_AUTO ? read_budget(r, dh_cursor_rest(&at), &c)
                                        : read_parameters(r, at, &c);
    noise->clause[noise->n++] = c;
    return ok;
}

bool dh_noise_read(struct dh_noise *noise, const char *text, struct dh_noise_error *e)
{
    unsigned groups = 0;
    struct reader r = {.text = text, .error = e};
    struct dh_cursor all = dh_cursor_of(text, dh_span_of(text).n);
    *noise = (struct dh_noise){0};
    do
        if (!read_clause(&r, dh_cursor_take_until(&all, ';'), noise, &groups))
            return false;
    while (dh_cursor_take_literal(&all, ";"));
    return true;
}
