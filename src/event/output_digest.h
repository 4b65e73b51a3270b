/* A digest of a run's output: a sum of hashes of its lines, so that threads may print in any order. Layer: event; the
 * runtime and the tool must compute the same. On standard error all numbers count as equal: they are mostly times and
 * amounts, no results. */
#ifndef DH_EVENT_OUTPUT_DIGEST_H
#define DH_EVENT_OUTPUT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_output_digest {
    uint64_t sum, line; /* `line`: hash of the incomplete line */
    bool open, in_number;
};

static inline void dh_output_digest_end_line(struct dh_output_digest *p)
{
    uint64_t a = p->line + 1;
    a = (a ^ a >> 30) * 0xbf58476d1ce4e5b9u;
    a = (a ^ a >> 27) * 0x94d049bb133111ebu;
    p->sum += a ^ a >> 31;
    p->line = 0;
    p->open = p->in_number = false;
}

static inline void dh_output_digest_add(struct dh_output_digest *p, const unsigned char *at, size_t n,
                                        bool numbers_are_alike)
{
    for (size_t i = 0; i < n; i++) {
        bool digit = numbers_are_alike && at[i] >= '0' && at[i] <= '9', again = digit && p->in_number;
        p->open = true;
        p->in_number = digit;
        if (at[i] == '\n')
            dh_output_digest_end_line(p);
        else if (!again)
            p->line = (p->line ^ (digit ? '0' : at[i])) * 0x100000001b3u + 0x9e3779b97f4a7c15u;
    }
}

static inline uint64_t dh_output_digest_sum(struct dh_output_digest p)
{
    if (p.open)
        dh_output_digest_end_line(&p);
    return p.sum;
}

#endif
