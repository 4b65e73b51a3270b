/* Reading text by hand: a cursor over bytes that knows its line and column, and takes words, numbers and quoted
 * strings. Layer: base. A taker that returns false has taken nothing. The text needs no 0 at its end and outlives what
 * was taken from it. No libc, no memory: some readers run inside of the checked program. */
#ifndef DH_BASE_READER_H
#define DH_BASE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_cursor {
    const char *at, *end;
    const char *line_start; /* may lie before the text that is read, as in a line's cursor */
    uint32_t line;          /* from 1 */
};

struct dh_span {
    const char *at;
    size_t n;
};

/* What stood there instead of what was expected. */
struct dh_expected {
    uint32_t line, column;
    const char *what;
    struct dh_span found; /* n is 0: nothing */
};

static inline struct dh_cursor dh_cursor_of(const char *text, size_t n)
{
    return (struct dh_cursor){text, text + n, text, 1};
}

/* In bytes, from 1. */
static inline uint32_t dh_cursor_column(const struct dh_cursor *c)
{
    return (uint32_t)(c->at - c->line_start) + 1;
}

/* ---- spans ---- */

static inline bool dh_span_is(struct dh_span s, const char *word)
{
    size_t i = 0;
    while (i < s.n && word[i] && word[i] == s.at[i])
        i++;
    return i == s.n && !word[i];
}

/* Which of the `n` words it is; -1: none. */
static inline int dh_span_which(struct dh_span s, const char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        if (words[i] && dh_span_is(s, words[i]))
            return i;
    return -1;
}

/* The byte's place, or s.n. */
static inline size_t dh_span_find(struct dh_span s, char byte)
{
    size_t i = 0;
    while (i < s.n && s.at[i] != byte)
        i++;
    return i;
}

/* For a message: as much as fits, and nothing that breaks its line. Returns `out`. */
static inline const char *dh_span_show(struct dh_span s, char *out, size_t size)
{
    size_t i = 0;
    for (; i < s.n && i + 1 < size; i++)
        out[i] = s.at[i] >= ' ' && s.at[i] < 0x7F ? s.at[i] : '?';
    out[i] = 0;
    return out;
}

static inline struct dh_span dh_span_of(const char *text)
{
    struct dh_span s = {text, 0};
    while (text[s.n])
        s.n++;
    return s;
}

/* A message of these texts in a row: as much as fits, and nothing that breaks its line. */
static inline void dh_message_set(char *out, size_t size, const char *const *part, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        for (const char *at = part[i]; *at && used + 1 < size; at++)
            out[used++] = *at >= ' ' && *at < 0x7F ? *at : '?';
    out[used] = 0;
}

#define DH_MESSAGE(array, ...)                                                                                         \
    dh_message_set(array, sizeof(array), (const char *const[]){__VA_ARGS__},                                           \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* ---- bytes ---- */

static inline bool dh_cursor_is_end(const struct dh_cursor *c)
{
    return c->at == c->end;
}

/* Not at the end. */
static inline char dh_cursor_step(struct dh_cursor *c)
{
    char byte = *c->at++;
    if (byte == '\n') {
        c->line++;
        c->line_start = c->at;
    }
    return byte;
}

static inline bool dh_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

static inline bool dh_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Within the line. */
static inline void dh_cursor_skip_space(struct dh_cursor *c)
{
    while (c->at < c->end && dh_is_space(*c->at))
        c->at++;
}

/* Ends of lines, too. */
static inline void dh_cursor_skip_blank(struct dh_cursor *c)
{
    while (c->at < c->end && (dh_is_space(*c->at) || *c->at == '\n'))
        dh_cursor_step(c);
}

/* ---- lines ---- */

/* The next line, without its end, as a cursor of its own. */
static inline bool dh_cursor_next_line(struct dh_cursor *c, struct dh_cursor *line)
{
    if (c->at == c->end)
        return false;
    *line = *c;
    while (c->at < c->end && *c->at != '\n')
        c->at++;
    line->end = c->at;
    if (c->at < c->end)
        dh_cursor_step(c);
    return true;
}

/* Without the space at its end. */
static inline void dh_cursor_trim(struct dh_cursor *line)
{
    while (line->end > line->at && dh_is_space(line->end[-1]))
        line->end--;
}

static inline struct dh_span dh_cursor_rest(const struct dh_cursor *c)
{
    return (struct dh_span){c->at, (size_t)(c->end - c->at)};
}

/* ---- takers ---- */

static inline bool dh_cursor_take_literal(struct dh_cursor *c, const char *text)
{
    struct dh_cursor now = *c;
    for (; *text; text++)
        if (now.at == now.end || dh_cursor_step(&now) != *text)
            return false;
    *c = now;
    return true;
}

/* Up to the byte, which stays, or to the end; may be empty. */
static inline struct dh_span dh_cursor_take_until(struct dh_cursor *c, char byte)
{
    struct dh_span s = {c->at, 0};
    while (c->at < c->end && *c->at != byte)
        dh_cursor_step(c);
    s.n = (size_t)(c->at - s.at);
    return s;
}

/* After space, up to the next; nothing in the line is no word. */
static inline bool dh_cursor_take_word(struct dh_cursor *c, struct dh_span *out)
{
    dh_cursor_skip_space(c);
    *out = (struct dh_span){c->at, 0};
    while (c->at < c->end && !dh_is_space(*c->at) && *c->at != '\n')
        c->at++;
    out->n = (size_t)(c->at - out->at);
    return out->n;
}

static inline unsigned dh_digit_value(char c)
{
    return dh_is_digit(c)         ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

/* Digits of that base (at most 16), right here, at most `most`. What follows is not looked at. */
static inline bool dh_cursor_take_digits(struct dh_cursor *c, unsigned base, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    const char *at = c->at;
    for (; at < c->end && dh_digit_value(*at) < base; at++) {
        unsigned digit = dh_digit_value(*at);
        if (digit > most || value > (most - digit) / base)
            return false;
        value = value * base + digit;
    }
    if (at == c->at)
        return false;
    c->at = at;
    *out = value;
    return true;
}

static inline bool dh_cursor_take_number(struct dh_cursor *c, uint64_t most, uint64_t *out)
{
    return dh_cursor_take_digits(c, 10, most, out);
}

/* 0x1F or 31. */
static inline bool dh_cursor_take_address(struct dh_cursor *c, uint64_t most, uint64_t *out)
{
    struct dh_cursor now = *c;
    bool is_hex = dh_cursor_take_literal(&now, "0x") || dh_cursor_take_literal(&now, "0X");
    if (!dh_cursor_take_digits(&now, is_hex ? 16 : 10, most, out))
        return false;
    *c = now;
    return true;
}

/* What stands between two '"' of one line, into `store`, which has room for it (a byte less than its quotes take); a
 * backslash is left out and what follows it is kept, or changed: `escapes` are pairs of letters as "n\nt\t", or NULL.
 * Returns the bytes stored; -1: no '"' here, or none that closes it. */
static inline ptrdiff_t dh_cursor_take_quoted(struct dh_cursor *c, char *store, const char *escapes)
{
    const char *at = c->at;
    ptrdiff_t n = 0;
    if (at == c->end || *at++ != '"')
        return -1;
    for (; at < c->end && *at != '"' && *at != '\n'; at++) {
        char byte = *at;
        if (byte == '\\' && at + 1 < c->end && at[1] != '\n') {
            byte = *++at;
            for (const char *e = escapes; e && *e; e += 2)
                if (*e == *at)
                    byte = e[1];
        }
        store[n++] = byte;
    }
    if (at == c->end || *at != '"')
        return -1;
    c->at = at + 1;
    return n;
}

/* ---- errors ---- */

/* Fills `out`; returns false, for the reader to do the same. */
static inline bool dh_cursor_fail(const struct dh_cursor *c, struct dh_span found, const char *what,
                                  struct dh_expected *out)
{
    *out = (struct dh_expected){c->line, (uint32_t)(found.at - c->line_start) + 1, what, found};
    return false;
}

/* Found is the word that comes. */
static inline bool dh_cursor_fail_here(const struct dh_cursor *c, const char *what, struct dh_expected *out)
{
    struct dh_cursor now = *c;
    struct dh_span found;
    dh_cursor_take_word(&now, &found);
    return dh_cursor_fail(c, found, what, out);
}

#endif
