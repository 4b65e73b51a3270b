#include "finding/scan_results.h"

#include "base/alloc.h"
#include "base/set.h"
#include "base/str.h"
#include "finding/store.h"

#include <stdlib.h>
#include <time.h>

enum { GROUP_MOST = 4 };

struct dh_scan_index {
    struct dh_u64_set ids;       /* of all findings, kept or not */
    struct dh_string_map groups; /* by kind and subject: first finding of the group, + 1 */
};

/* What a report is about; without a name it is the place. */
static const char *subject(const struct dh_finding *f)
{
    return f->variable[0] || !f->accesses.n ? f->variable : f->accesses.at[0].site;
}

/* Finds the group of `f`, or begins one. Pairs of places on one variable beyond the first few say no more. */
static bool is_one_more(struct dh_scan_results *r, const struct dh_finding *f, struct dh_scan_group *g)
{
    char *key = dh_format("%s %s", dh_finding_kind_name(f->kind), subject(f));
    uint32_t *known = dh_string_map_at(&r->index->groups, key);
    free(key);
    *g = (struct dh_scan_group){(uint32_t)r->findings.n, 1, 1};
    if (!*known) {
        *known = (uint32_t)r->findings.n + 1;
        r->n_reports++;
        return false;
    }
    struct dh_scan_group *first = &r->groups.at[*known - 1];
    first->pairs++;
    g->first = *known - 1;
    bool more = first->kept == GROUP_MOST && !r->all;
    first->kept += !more;
    return more;
}

static void keep(struct dh_scan_results *r, struct dh_finding *f, struct dh_scan_origin from)
{
    bool fresh = dh_scan_has_line(f) && dh_u64_set_add(&r->index->ids, strtoull(f->id, NULL, 16));
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
    r->index = DH_NEW(struct dh_scan_index);
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
        return dh_store_make(path, err);
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
    dh_u64_set_release(&r->index->ids);
    dh_string_map_release(&r->index->groups);
    free(r->index);
}
