#include "finding/scan_results.h"

#include "base/str.h"
#include "finding/store.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP_MOST = 4 };

/* Hash tables with linear probing, 0 = free. */
struct dh_scan_index {
    uint64_t *ids; /* of all findings, kept or not */
    size_t ids_room, n_ids;
    uint32_t *groups; /* first finding of each group, + 1 */
    size_t groups_room;
};

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

/* ---- each finding once ---- */
static uint64_t *id_slot(struct dh_scan_index *x, uint64_t key)
{
    for (size_t i = key & (x->ids_room - 1);; i = (i + 1) & (x->ids_room - 1))
        if (!x->ids[i] || x->ids[i] == key)
            return &x->ids[i];
}

/* Whether there is one of that id; remembers it. Ids are hashes already. */
static bool is_known(struct dh_scan_index *x, const char *id)
{
    uint64_t key = strtoull(id, NULL, 16);
    if (2 * x->n_ids >= x->ids_room) {
        uint64_t *old = x->ids;
        size_t n = x->ids_room;
        x->ids_room = n ? 2 * n : 1024;
        x->ids = zeroed(x->ids_room, sizeof *x->ids);
        for (size_t i = 0; i < n; i++)
            if (old[i])
                *id_slot(x, old[i]) = old[i];
        free(old);
    }
    uint64_t *slot = id_slot(x, key);
    bool known = *slot;
    x->n_ids += !known;
    *slot = key;
    return known;
}

/* ---- groups ---- */
/* What a report is about; without a name it is the place. */
static const char *subject(const struct dh_finding *f)
{
    return f->variable[0] || !f->accesses.n ? f->variable : f->accesses.at[0].site;
}

static uint32_t *group_slot(struct dh_scan_results *r, const struct dh_finding *f)
{
    struct dh_scan_index *x = r->index;
    uint64_t h = 14695981039346656037u;
    for (const char *c = f->kind; *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    for (const char *c = subject(f); *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    for (size_t i = h & (x->groups_room - 1);; i = (i + 1) & (x->groups_room - 1)) {
        const struct dh_finding *g = x->groups[i] ? &r->findings.at[x->groups[i] - 1] : NULL;
        if (!g || (strcmp(subject(g), subject(f)) == 0 && strcmp(g->kind, f->kind) == 0))
            return &x->groups[i];
    }
}

static void grow_groups(struct dh_scan_results *r)
{
    struct dh_scan_index *x = r->index;
    free(x->groups);
    x->groups_room = x->groups_room ? 2 * x->groups_room : 1024;
    x->groups = zeroed(x->groups_room, sizeof *x->groups);
    for (uint32_t i = 0; i < r->findings.n; i++)
        if (r->groups.at[i].first == i)
            *group_slot(r, &r->findings.at[i]) = i + 1;
}

/* Finds the group of `f`, or begins one. Pairs of places on one variable beyond the first few say no more. */
static bool is_one_more(struct dh_scan_results *r, const struct dh_finding *f, struct dh_scan_group *g)
{
    if (2 * r->n_reports >= r->index->groups_room)
        grow_groups(r);
    uint32_t *slot = group_slot(r, f);
    *g = (struct dh_scan_group){(uint32_t)r->findings.n, 1, 1};
    if (!*slot) {
        *slot = (uint32_t)r->findings.n + 1;
        r->n_reports++;
        return false;
    }
    struct dh_scan_group *first = &r->groups.at[*slot - 1];
    first->pairs++;
    g->first = *slot - 1;
    bool more = first->kept == GROUP_MOST && !r->all;
    first->kept += !more;
    return more;
}

static void keep(struct dh_scan_results *r, struct dh_finding *f, struct dh_scan_origin from)
{
    bool fresh = dh_scan_has_line(f) && !is_known(r->index, f->id);
    bool suppressed = fresh && dh_suppressions_find(r->suppressions, f);
    struct dh_scan_group group;
    bool wanted = fresh && !suppressed, more = wanted && is_one_more(r, f, &group);
    r->suppressed += suppressed;
    r->more += more;
    if (!wanted || more) {
        dh_finding_release(f);
        return;
    }
    dh_vec_push(&r->findings, *f);
    dh_vec_push(&r->origins, from);
    dh_vec_push(&r->groups, group);
}

/* ---- from what the analyses found ---- */
char *dh_scan_escape_text(const struct dh_scan_results *r, const struct dh_conflict *c)
{
    if (c->cause == DH_NONE)
        return NULL;
    const struct dh_conflict *by = &r->scan->conflicts.found.at[c->cause];
    struct dh_finding f;
    dh_scan_race(&r->subject, by->first, by->second, "", &f);
    const struct dh_finding_frame *a = f.accesses.at[0].stack.frames.at, *b = f.accesses.at[1].stack.frames.at;
    char *text = dh_format("the object escapes through %s, on which there is a race itself (%s:%u and %s:%u)",
                           f.variable[0] ? f.variable : "a pointer", dh_basename(a->file), a->line,
                           dh_basename(b->file), b->line);
    dh_finding_release(&f);
    return text;
}

static void gather_races(struct dh_scan_results *r)
{
    struct dh_finding f;
    for (uint32_t i = 0; i < r->scan->conflicts.found.n; i++) {
        const struct dh_conflict *c = &r->scan->conflicts.found.at[i];
        char *escape = dh_scan_escape_text(r, c);
        char *text = dh_format("nothing orders these accesses (%s)%s%s", dh_conflict_class_name(c->class),
                               escape ? "; " : "", escape ? escape : "");
        dh_scan_race(&r->subject, c->first, c->second, text, &f);
        free(text);
        free(escape);
        keep(r, &f, (struct dh_scan_origin){DH_FROM_RACE, i});
    }
}

void dh_scan_results_gather(struct dh_scan_results *r)
{
    struct dh_finding f;
    r->index = zeroed(1, sizeof *r->index);
    gather_races(r);
    for (uint32_t i = 0; i < r->scan->deadlocks.all.n; i++) {
        dh_scan_deadlock(&r->subject, &r->scan->deadlocks.all.at[i], &f);
        keep(r, &f, (struct dh_scan_origin){DH_FROM_DEADLOCK, i});
    }
    for (uint32_t i = 0; i < r->scan->inconsistencies.found.n; i++) {
        dh_scan_violation(&r->subject, &r->scan->inconsistencies.found.at[i], &f);
        keep(r, &f, (struct dh_scan_origin){DH_FROM_VIOLATION, i});
    }
}

bool dh_scan_results_store(struct dh_scan_results *r, const char *path, struct dh_err *err)
{
    struct dh_store_run run = {.program = r->subject.program, .arguments = "scan", .started = time(NULL)};
    long long id;
    if (!r->findings.n)
        return true;
    struct dh_store *db = dh_store_open(path, DH_STORE_WRITE, err);
    bool ok = db && dh_store_begin(db, &run, &id, err);
    for (size_t i = 0; ok && i < r->findings.n; i++) {
        r->findings.at[i].first_seen = r->findings.at[i].last_seen = run.started;
        ok = dh_store_add(db, id, &r->findings.at[i], err);
    }
    ok = ok && dh_store_commit(db, err);
    dh_store_close(db);
    return ok;
}

void dh_scan_results_release(struct dh_scan_results *r)
{
    for (size_t i = 0; i < r->findings.n; i++)
        dh_finding_release(&r->findings.at[i]);
    dh_vec_release(&r->findings);
    dh_vec_release(&r->origins);
    dh_vec_release(&r->groups);
    free(r->index->ids);
    free(r->index->groups);
    free(r->index);
}
