/* A digest of a run's output: a sum of hashes of its lines, so that threads may print in any order. Layer: event; the
 * runtime and the tool must compute the same. On standard error all amounts count as equal: they are mostly times and
 * sizes, no results. An amount is a number with its sign, the blanks beside it (columns) and its unit. */
#ifndef DH_EVENT_OUTPUT_DIGEST_H
#define DH_EVENT_OUTPUT_DIGEST_H

#include "base/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_OUTPUT_UNIT 6

struct dh_output_digest {
    uint64_t sum, line; /* `line`: hash of the incomplete line */
    bool open, in_amount;
    unsigned char n_unit, unit[DH_OUTPUT_UNIT]; /* letters behind a number, as long as they may be its unit */
};

static inline void dh_output_digest_byte(struct dh_output_digest *p, unsigned char c)
{
    p->line = (p->line ^ c) * DH_FNV_PRIME + DH_SPLITMIX_STEP;
}

static inline bool dh_output_digest_is_unit(const struct dh_output_digest *p)
{
    static const char units[][DH_OUTPUT_UNIT] = {
        "B",   "K",   "M",   "G",   "T",  "KB", "kB", "MB", "GB", "TB",  "Ki", "Mi",  "Gi",
        "KiB", "MiB", "GiB", "TiB", "ns", "us", "ms", "s",  "S",  "sec", "m",  "min", "h",
    };
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++) {
        unsigned k = 0;
        while (k < p->n_unit && units[i][k] == (char)p->unit[k])
            k++;
        if (k == p->n_unit && !units[i][k])
            return true;
    }
    return false;
}

/* The number's unit is dropped; any other word counts. */
static inline void dh_output_digest_end_amount(struct dh_output_digest *p)
{
    bool is_unit = dh_output_digest_is_unit(p);
    for (unsigned i = 0; !is_unit && i < p->n_unit; i++)
        dh_output_digest_byte(p, p->unit[i]);
    p->n_unit = 0;
    p->in_amount = false;
}

static inline void dh_output_digest_end_line(struct dh_output_digest *p)
{
    dh_output_digest_end_amount(p);
    p->sum += dh_splitmix(p->line + 1);
    p->line = 0;
    p->open = false;
}

static inline void dh_output_digest_byte_but_amounts(struct dh_output_digest *p, unsigned char c)
{
    bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (c == ' ' || c == '\t' || c == '-' || c == '+' || (c == '.' && p->in_amount))
        return;
    if (c >= '0' && c <= '9') {
        if (p->n_unit || !p->in_amount) {
            dh_output_digest_end_amount(p);
            dh_output_digest_byte(p, '0');
        }
        p->in_amount = true;
    } else if (letter && p->in_amount && p->n_unit + 1 < DH_OUTPUT_UNIT)
        p->unit[p->n_unit++] = c;
    else {
        dh_output_digest_end_amount(p);
        dh_output_digest_byte(p, c);
    }
}

static inline void dh_output_digest_add(struct dh_output_digest *p, const unsigned char *at, size_t n,
                                        bool amounts_are_alike)
{
    for (size_t i = 0; i < n; i++) {
        p->open = true;
        if (at[i] == '\n')
            dh_output_digest_end_line(p);
        else if (amounts_are_alike)
            dh_output_digest_byte_but_amounts(p, at[i]);
        else
            dh_output_digest_byte(p, at[i]);
    }
}

static inline uint64_t dh_output_digest_sum(struct dh_output_digest p)
{
    if (p.open)
        dh_output_digest_end_line(&p);
    return p.sum;
}

#endif
