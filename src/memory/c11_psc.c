#include "memory/c11_psc.h"

enum { HALVES = DH_C11_EVENTS / 64, TRIALS = 400 };

static void put(struct dh_c11_set *s, uint32_t i)
{
    s->half[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has(const struct dh_c11_set *s, uint32_t i)
{
    return s->half[i / 64] >> i % 64 & 1;
}

static void unite(struct dh_c11_set *s, const struct dh_c11_set *with)
{
    for (unsigned h = 0; h < HALVES; h++)
        s->half[h] |= with->half[h];
}

static void keep_only(struct dh_c11_set *s, const struct dh_c11_set *with)
{
    for (unsigned h = 0; h < HALVES; h++)
        s->half[h] &= with->half[h];
}

/* The first element from i on; DH_C11_EVENTS: none. */
static uint32_t next_in(const struct dh_c11_set *s, uint32_t i)
{
    for (; i < DH_C11_EVENTS; i = (i / 64 + 1) * 64) {
        uint64_t rest = s->half[i / 64] >> i % 64;
        if (rest)
            return i + (uint32_t)__builtin_ctzll(rest);
    }
    return DH_C11_EVENTS;
}

#define FOR_EACH(i, set) for (uint32_t i = next_in(set, 0); i < DH_C11_EVENTS; i = next_in(set, i + 1))

/* ---- events ---- */

static bool is_fence(const struct dh_c11_event *e)
{
    return e->is_sc && !e->at;
}

/* hb of one location, program order, and what leaves and enters by other locations: sb|!=loc ; hb ; sb|!=loc. */
static void relate(struct dh_c11_log *log, struct dh_c11_event *e)
{
    for (uint32_t i = 0; i < log->count; i++) {
        const struct dh_c11_event *a = log->event[i];
        bool same_place = a->at && a->at == e->at;
        if (a->thread == e->thread && !same_place)
            put(&e->apart, i);
        if (a->thread == e->thread || (same_place && has(&e->hb, i)))
            put(&e->scb, i);
    }
    struct dh_c11_set middle = {0};
    FOR_EACH(i, &e->apart) unite(&middle, &log->event[i]->hb);
    FOR_EACH(i, &middle) unite(&e->scb, &log->event[i]->apart);
}

static bool begins(const struct dh_c11_log *log, const struct dh_location *at)
{
    for (uint32_t i = 0; i < log->count; i++)
        if (log->event[i]->at == at)
            return false;
    return at;
}

struct dh_c11_event *dh_c11_log_add(struct dh_c11_log *log, struct dh_run_arena *arena,
                                    const struct dh_c11_event *event, const uint32_t *clock)
{
    if (log->count == DH_C11_EVENTS)
        return NULL;
    struct dh_c11_event *e = log->event[log->count];
    if (!e)
        e = log->event[log->count] = dh_run_arena_take(arena, sizeof *e);
    if (!e)
        return NULL;
    *e = *event;
    e->begins = begins(log, e->at);
    for (uint32_t i = 0; i < log->count; i++) {
        const struct dh_c11_event *a = log->event[i];
        if (a->thread == e->thread || a->epoch <= clock[a->thread])
            put(&e->hb, i);
    }
    relate(log, e);
    log->count++;
    log->has_sc |= e->is_sc;
    return e;
}

/* ---- psc for one modification order, or for what is certain of it ---- */

struct view {
    struct dh_c11_log *log;
    bool is_certain; /* only what is certain, else as `trial` says */
};

static uint32_t index_of(const struct dh_location *at, const struct dh_memory_write *w)
{
    uint32_t i = 0;
    while (at->write[i] != w)
        i++;
    return i;
}

static bool precedes(const struct view *v, const struct dh_location *at, const struct dh_memory_write *a,
                     const struct dh_memory_write *b)
{
    return v->is_certain ? b->before >> index_of(at, a) & 1 : a->trial < b->trial;
}

/* Events that write before w (mo) or read something before w (rb). */
static struct dh_c11_set eco_before(const struct view *v, const struct dh_location *at, const struct dh_memory_write *w,
                                    uint32_t except)
{
    struct dh_c11_set s = {0};
    for (uint32_t i = 0; i < v->log->count; i++) {
        const struct dh_c11_event *a = v->log->event[i];
        if (a->at != at || i == except)
            continue;
        if ((a->wrote && a->wrote != w && precedes(v, at, a->wrote, w)) ||
            (a->read && a->read != w && precedes(v, at, a->read, w)))
            put(&s, i);
    }
    return s;
}

static void matrices(const struct view *v, struct dh_c11_set *scb, struct dh_c11_set *eco)
{
    for (uint32_t i = 0; i < v->log->count; i++) {
        const struct dh_c11_event *e = v->log->event[i];
        scb[i] = e->scb;
        eco[i] = (struct dh_c11_set){0};
        if (e->wrote) {
            eco[i] = eco_before(v, e->at, e->wrote, i);
            unite(&scb[i], &eco[i]);
        }
        if (!e->read)
            continue;
        struct dh_c11_set more = eco_before(v, e->at, e->read, i);
        for (uint32_t k = 0; k < v->log->count; k++)
            if (v->log->event[k]->wrote == e->read)
                put(&more, k);
        unite(&eco[i], &more);
    }
}

/* Events that precede the seq_cst event b in psc_base or psc_F. */
static struct dh_c11_set psc_before(const struct view *v, const struct dh_c11_set *scb, const struct dh_c11_set *eco,
                                    uint32_t b, const struct dh_c11_set *accesses, const struct dh_c11_set *fences)
{
    const struct dh_c11_event *e = v->log->event[b];
    struct dh_c11_set from = scb[b], by_eco = {0}, result, reach;
    if (is_fence(e)) {
        FOR_EACH(t, &e->hb)
        {
            unite(&from, &scb[t]);
            unite(&by_eco, &eco[t]);
        }
    }
    result = from;
    keep_only(&result, accesses);
    reach = from;
    FOR_EACH(t, &from) unite(&reach, &v->log->event[t]->hb);
    if (is_fence(e)) {
        unite(&reach, &e->hb);
        FOR_EACH(t, &by_eco) unite(&reach, &v->log->event[t]->hb);
    }
    keep_only(&reach, fences);
    unite(&result, &reach);
    return result;
}

/* Takes away what nothing left precedes, until nothing is left, or a cycle. */
static bool is_acyclic(const struct dh_c11_set *before, struct dh_c11_set left)
{
    for (bool again = true; again;) {
        again = false;
        FOR_EACH(i, &left)
        {
            struct dh_c11_set s = before[i];
            keep_only(&s, &left);
            if (next_in(&s, 0) < DH_C11_EVENTS)
                continue;
            left.half[i / 64] &= ~(UINT64_C(1) << i % 64);
            again = true;
        }
    }
    return next_in(&left, 0) == DH_C11_EVENTS;
}

static bool has_sc_order(const struct view *v, struct dh_c11_scratch *work)
{
    struct dh_c11_set accesses = {0}, fences = {0}, all;
    for (uint32_t i = 0; i < v->log->count; i++)
        if (v->log->event[i]->is_sc)
            put(is_fence(v->log->event[i]) ? &fences : &accesses, i);
    matrices(v, work->scb, work->eco);
    all = accesses;
    unite(&all, &fences);
    FOR_EACH(b, &all) work->psc[b] = psc_before(v, work->scb, work->eco, b, &accesses, &fences);
    return is_acyclic(work->psc, all);
}

/* ---- looking for one ---- */

static void linearise_all(struct dh_c11_log *log)
{
    for (uint32_t i = 0; i < log->count; i++)
        if (log->event[i]->begins)
            dh_mo_linearise(log->event[i]->at);
}

/* Two writes, each the first of its chain, of which it is not certain which comes first. */
static struct dh_location *undecided(struct dh_c11_log *log, uint32_t pair[2])
{
    for (uint32_t e = 0; e < log->count; e++) {
        struct dh_location *at = log->event[e]->at;
        if (!log->event[e]->begins)
            continue;
        for (uint32_t j = 0; j < at->count; j++)
            for (uint32_t i = 0; i < j; i++)
                if (at->write[i]->head == i && at->write[j]->head == j && !dh_mo_is_before(at, i, j) &&
                    !dh_mo_is_before(at, j, i)) {
                    pair[0] = i;
                    pair[1] = j;
                    return at;
                }
    }
    return NULL;
}

static bool solve(struct dh_c11_log *log, struct dh_c11_scratch *work, uint32_t depth)
{
    struct view certain = {log, true}, trial = {log, false};
    if (!has_sc_order(&certain, work))
        return false;
    linearise_all(log);
    if (has_sc_order(&trial, work))
        return true;
    uint32_t pair[2];
    struct dh_location *at = undecided(log, pair);
    if (!at)
        return false;
    if (depth == DH_C11_DEPTH || work->trials++ == TRIALS) {
        work->gave_up = true;
        return false;
    }
    uint64_t *saved = work->saved[depth];
    bool found = false;
    for (uint32_t i = 0; i < at->count; i++)
        saved[i] = at->write[i]->before;
    for (unsigned way = 0; way < 2 && !found; way++) {
        dh_mo_add(at, pair[!way], pair[way]); /* later writes first: the other way round was tried just now */
        found = solve(log, work, depth + 1);
        for (uint32_t i = 0; i < at->count; i++)
            at->write[i]->before = saved[i];
    }
    return found;
}

bool dh_c11_log_solve(struct dh_c11_log *log, struct dh_c11_scratch *work)
{
    work->trials = 0;
    work->gave_up = false;
    if (log->has_sc)
        return solve(log, work, 0);
    linearise_all(log);
    return true;
}
