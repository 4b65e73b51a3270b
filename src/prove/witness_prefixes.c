#include "prove/witness_prefixes.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "search/prefix.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 64 /* per access */ };

struct recording {
    struct dh_search search;
    struct dh_arena arena;
    struct dh_recorded_step *steps;
    struct dh_recorded_run run;
};

static void *memory(struct dh_search *s, size_t n)
{
    struct recording *r = s->host;
    return dh_arena_take(&r->arena, n);
}

/* The engine does not keep all of a step (the mutex of a wait, the source of a copy): the program may then not follow
 * the prefix, which costs one schedule. */
static void record(struct recording *w, const struct dh_witness_prefix_source *of)
{
    w->steps = dh_arena_take(&w->arena, of->n * sizeof *w->steps);
    for (uint32_t i = 0; i < of->n; i++) {
        const struct dh_engine_decision *d = &of->decisions[i];
        uint32_t bytes = of->bytes_of(of->arg, d->place);
        w->steps[i] = (struct dh_recorded_step){.thread = d->thread,
                                                .alternative = d->alternative,
                                                .step = {.kind = d->kind,
                                                         .flags = d->flags,
                                                         .site = d->place,
                                                         .object = d->object,
                                                         .size = bytes ? bytes : 1,
                                                         .occurrence = d->occurrence}};
        w->run.threads = d->thread >= w->run.threads ? d->thread + 1 : w->run.threads;
    }
    w->run.step = w->steps;
    w->run.n = of->n;
}

static bool is_wanted(const struct dh_witness_prefix_source *of, const struct dh_engine_decision *d)
{
    bool access = d->kind == DH_STEP_READ || d->kind == DH_STEP_WRITE || d->kind == DH_STEP_RMW;
    return access && d->place < of->places && of->wanted[d->place];
}

static bool is_wanted_pair(const struct dh_witness_prefix_source *of, const struct dh_engine_decision *a,
                           const struct dh_engine_decision *b)
{
    if (!is_wanted(of, a) || !is_wanted(of, b))
        return false;
    unsigned x = of->wanted[a->place], y = of->wanted[b->place];
    return ((x & 1) && (y & 2)) || ((x & 2) && (y & 1));
}

/* Two prefixes of each pair of places, with different threads held, are enough of one schedule. */
static bool is_known(const struct dh_witness_prefix *out, size_t n, const struct dh_witness_prefix *b)
{
    unsigned same = 0;
    for (size_t i = 0; i < n; i++)
        if (out[i].place1 == b->place1 && out[i].place2 == b->place2) {
            if (out[i].held == b->held)
                return true;
            same++;
        }
    return same >= 2;
}

static bool extend(struct dh_prefix *p, const struct dh_witness_prefix_source *of, const struct dh_prefix_pair *pair,
                   struct dh_witness_prefix *out)
{
    struct dh_prefix_choices c;
    if (!dh_prefix_extend(p, pair, &c))
        return false;
    out->n = c.n;
    out->held = c.held;
    out->frozen = c.frozen;
    out->reaches = c.is_witness;
    if (c.is_witness)
        out->place2 = of->decisions[c.racing].place;
    out->decisions = dh_xcalloc(c.n + 1, sizeof *out->decisions);
    for (uint32_t i = 0; i < c.n; i++) {
        out->decisions[i].thread = c.at[i].thread;
        out->decisions[i].alternative = (uint16_t)c.at[i].alternative;
    }
    return true;
}

/* Adds the prefixes of one access. */
static size_t add_prefixes(struct dh_prefix *p, const struct dh_witness_prefix_source *of, uint32_t warned,
                           struct dh_witness_prefix *out, size_t n, size_t most)
{
    struct dh_prefix_pair pair;
    for (uint32_t k = 0; k < CANDIDATES && n < most && dh_prefix_find(p, warned, k, &pair); k++) {
        struct dh_witness_prefix b = {.place1 = of->decisions[pair.first].place,
                                      .place2 = of->decisions[pair.second].place,
                                      .held = of->decisions[pair.first].thread};
        if (!is_wanted_pair(of, &of->decisions[pair.first], &of->decisions[pair.second]) || is_known(out, n, &b))
            continue;
        if (extend(p, of, &pair, &b))
            out[n++] = b;
    }
    return n;
}

size_t dh_witness_prefixes_find(const struct dh_witness_prefix_source *of, struct dh_witness_prefix *out, size_t most)
{
    enum { ACCESSES_MOST = 400 };
    struct recording w = {.search = {.memory = memory}};
    size_t n = 0, accesses = 0;
    w.search.host = &w;
    record(&w, of);
    struct dh_prefix *p = dh_prefix_new(&w.search, &w.run);
    for (uint32_t i = of->n; p && i-- > 0 && n < most && accesses < ACCESSES_MOST;)
        if (is_wanted(of, &of->decisions[i])) {
            accesses++;
            n = add_prefixes(p, of, i, out, n, most);
        }
    dh_arena_release(&w.arena);
    return n;
}

void dh_witness_prefixes_release(struct dh_witness_prefix *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(b[i].decisions);
}
