#include "event/noise.h"

/* As the paper's 50/50: one access of twenty, fifty microseconds (its unit is another). */
enum { FREQUENCY = 50, NANOSECONDS = 50000, SECOND = 1000000000 };

struct reader {
    const char *start, *end; /* of the clause */
    const char *text;        /* of it all */
    struct dh_noise_error *error;
};

static size_t length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

static bool is(const char *at, const char *end, const char *word)
{
    size_t n = length(word);
    if ((size_t)(end - at) != n)
        return false;
    while (n && *at == *word)
        at++, word++, n--;
    return !n;
}

static void add(struct dh_noise_error *e, const char *text, size_t n)
{
    size_t at = length(e->text);
    while (n-- && *text && at + 1 < sizeof e->text)
        e->text[at++] = *text++;
    e->text[at] = 0;
}

static bool fail(struct reader *r, const char *at, const char *expected, const char *found_end)
{
    *r->error = (struct dh_noise_error){.column = (unsigned)(at - r->text) + 1};
    add(r->error, "expected ", SIZE_MAX);
    add(r->error, expected, SIZE_MAX);
    add(r->error, at == found_end ? ", found nothing" : ", found '", SIZE_MAX);
    if (at != found_end) {
        add(r->error, at, (size_t)(found_end - at));
        add(r->error, "'", 1);
    }
    return false;
}

/* Behind the digits; NULL: none there, or too many. */
static const char *read_number(const char *at, const char *end, uint32_t *out)
{
    uint64_t value = 0;
    const char *from = at;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > UINT32_MAX)
            return NULL;
    }
    *out = (uint32_t)value;
    return at > from ? at : NULL;
}

static bool read_frequency(struct reader *r, const char *at, const char *end, struct dh_noise_clause *c)
{
    uint32_t value;
    if (read_number(at, end, &value) != end || value > 1000)
        return fail(r, at, "a frequency from 0 (never) to 1000 (every time)", end);
    c->frequency = (uint16_t)value;
    return true;
}

static bool read_strength(struct reader *r, const char *at, const char *end, struct dh_noise_clause *c)
{
    static const struct {
        const char *unit;
        uint32_t nanoseconds;
    } units[] = {{"us", 1000}, {"", 1000}, {"ns", 1}, {"ms", 1000000}, {"s", SECOND}};
    uint32_t value;
    const char *unit = read_number(at, end, &value);
    for (unsigned i = 0; unit && i < sizeof units / sizeof *units; i++)
        if (is(unit, end, units[i].unit) && value <= SECOND / units[i].nanoseconds) {
            c->nanoseconds = value * units[i].nanoseconds;
            return true;
        }
    return fail(r, at, "a strength as 500ns, 50us or 2ms, at most 1s", end);
}

static bool read_how(struct reader *r, const char *at, const char *end, struct dh_noise_clause *c)
{
    static const char *const hows[] = {
        [DH_NOISE_SLEEP] = "sleep", [DH_NOISE_YIELD] = "yield", [DH_NOISE_BUSY] = "busy"};
    for (uint8_t i = 0; i < DH_NOISE_HOWS; i++)
        if (is(at, end, hows[i])) {
            c->how = i;
            return true;
        }
    return fail(r, at, "sleep, yield or busy", end);
}

/* ,FREQUENCY[,STRENGTH[,HOW]] */
static bool read_parameters(struct reader *r, const char *at, struct dh_noise_clause *c)
{
    static bool (*const readers[])(struct reader *, const char *, const char *,
                                   struct dh_noise_clause *) = {read_frequency, read_strength, read_how};
    for (unsigned i = 0; at < r->end; i++) {
        const char *from = ++at;
        while (at < r->end && *at != ',')
            at++;
        if (i == sizeof readers / sizeof *readers)
            return fail(r, from, "nothing behind frequency, strength and how", at);
        if (!readers[i](r, from, at, c))
            return false;
    }
    return true;
}

/* A name goes up to the first comma outside of brackets, which names of templates have. */
static const char *name_end(const char *at, const char *end)
{
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '<' || *at == '(')
            depth++;
        else if (*at == '>' || *at == ')')
            depth--;
        else if (*at == ',' && depth <= 0)
            break;
    }
    return at;
}

static bool is_line(const char *at, const char *end)
{
    const char *colon = end;
    uint32_t line;
    while (colon > at && colon[-1] != ':')
        colon--;
    return colon > at + 1 && read_number(colon, end, &line) == end;
}

static bool read_target(struct reader *r, struct dh_noise_clause *c, const char *at)
{
    const char *end = name_end(at, r->end);
    c->name = at;
    c->n_name = (size_t)(end - at);
    if (at == end)
        return fail(r, at,
                    c->kind == DH_NOISE_VARIABLE ? "the name of a variable, or @suspected" : "FILE:LINE, or @findings",
                    end);
    if (c->kind == DH_NOISE_VARIABLE && *at == '@' && !is(at, end, "@suspected"))
        return fail(r, at, "the name of a variable, or @suspected", end);
    if (c->kind == DH_NOISE_LOCATION && !is(at, end, "@findings") && !is_line(at, end))
        return fail(r, at, "FILE:LINE, or @findings", end);
    return read_parameters(r, end, c);
}

static bool read_budget(struct reader *r, struct dh_noise_clause *c, const char *at)
{
    const char *behind = read_number(at, r->end, &c->percent);
    if (!behind || !is(behind, r->end, "%") || !c->percent || c->percent > 10000)
        return fail(r, at, "a budget as 20%", r->end);
    return true;
}

static bool read_clause(struct reader *r, struct dh_noise *noise, unsigned *groups)
{
    static const struct {
        const char *word;
        char behind;
    } kinds[] = {[DH_NOISE_RANDOM] = {"random", ','},
                 [DH_NOISE_SYNC] = {"sync", ','},
                 [DH_NOISE_VARIABLE] = {"var", ':'},
                 [DH_NOISE_LOCATION] = {"loc", ':'},
                 [DH_NOISE_AUTO] = {"auto", ':'}};
    const char *end = r->start;
    while (end < r->end && *end != ':' && *end != ',')
        end++;
    struct dh_noise_clause c = {.kind = DH_NOISE_KINDS, .frequency = FREQUENCY, .nanoseconds = NANOSECONDS};
    for (uint8_t i = 0; i < DH_NOISE_KINDS; i++)
        if (is(r->start, end, kinds[i].word) && (end == r->end ? kinds[i].behind == ',' : *end == kinds[i].behind))
            c.kind = i;
    if (c.kind == DH_NOISE_KINDS)
        return fail(r, r->start, "random, sync, var:NAME, loc:FILE:LINE or auto:N%", r->end);
    if (noise->n == DH_NOISE_CLAUSES)
        return fail(r, r->start, "at most 8 clauses", r->end);
    bool ok = true;
    if (c.kind == DH_NOISE_VARIABLE || c.kind == DH_NOISE_LOCATION) {
        c.group = (uint8_t)(*groups)++;
        ok = read_target(r, &c, end + 1);
    } else {
        ok = c.kind == DH_NOISE_AUTO ? read_budget(r, &c, end + 1) : read_parameters(r, end, &c);
    }
    noise->clause[noise->n++] = c;
    return ok;
}

bool dh_noise_read(struct dh_noise *noise, const char *text, struct dh_noise_error *e)
{
    unsigned groups = 0;
    struct reader r = {.start = text, .text = text, .error = e};
    *noise = (struct dh_noise){0};
    for (;; r.start = r.end + 1) {
        r.end = r.start;
        while (*r.end && *r.end != ';')
            r.end++;
        if (!read_clause(&r, noise, &groups))
            return false;
        if (!*r.end)
            return true;
    }
}
