#include "classify/keep.h"

#include "base/hash.h"
#include "finding/json_text.h"
#include "host/file.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

struct reading {
    struct dh_races *races;
    const struct dh_subject *s;
    bool any; /* whosever they are */
};

static void take(void *arg, const struct dh_finding *f)
{
    struct reading *r = arg;
    if (r->any || strcmp(f->build, r->s->build) == 0 || strcmp(f->program, r->s->program) == 0)
        dh_vec_push(&r->races->at, dh_finding_copy(f));
}

bool dh_races_read(struct dh_races *races, const char *db, const char *id, long long run, const struct dh_subject *s,
                   struct dh_err *err)
{
    struct reading r = {.races = races, .s = s, .any = id};
    struct dh_store_choice choice = {.id = id, .run = run, .kinds = "race", .levels = "observed,proven"};
    *races = (struct dh_races){0};
    if (!dh_file_exists(db))
        return true;
    struct dh_store *store = dh_store_open(db, DH_STORE_READ, err);
    bool ok = store && dh_store_each(store, &choice, take, &r, err);
    dh_store_close(store);
    return ok;
}

void dh_races_release(struct dh_races *r)
{
    for (size_t i = 0; i < r->at.n; i++) {
        dh_finding_release(r->at.at[i]);
        free(r->at.at[i]);
    }
    dh_vec_release(&r->at);
}

/* ---- as JSON ---- */

static json_t *column_json(const struct dh_classify_column *c)
{
    json_t *o = json_object();
    json_object_set_new(o, "heuristic", dh_json_text(c->title));
    json_object_set_new(o, "model", dh_json_text(c->model));
    json_object_set_new(o, "runs", json_integer((json_int_t)c->runs));
    json_object_set_new(o, "failed", json_integer((json_int_t)c->failed));
    json_object_set_new(o, "stale_reads", json_integer((json_int_t)c->stale_loads));
    json_object_set_new(o, "operations_ratio", json_real(c->slower));
    return o;
}

static json_t *pair_json(const struct dh_classified_pair *p)
{
    json_t *o = json_object(), *sites = json_array();
    json_object_set_new(o, "finding", dh_json_text(p->finding->id));
    for (size_t i = 0; i < p->finding->accesses.n; i++)
        json_array_append_new(sites, dh_json_text(p->finding->accesses.at[i].site));
    json_object_set_new(o, "sites", sites);
    json_object_set_new(o, "verdict", dh_json_text(dh_finding_verdict_name(p->verdict)));
    json_object_set_new(o, "why", dh_json_text(p->why));
    return o;
}

/* All of them; or the one of a finding. */
static json_t *pairs_json(const struct dh_classified *c, const struct dh_finding *f)
{
    json_t *all = f ? NULL : json_array();
    for (size_t i = 0; i < c->pairs.n; i++) {
        if (!f)
            json_array_append_new(all, pair_json(&c->pairs.at[i]));
        else if (c->pairs.at[i].finding == f)
            return pair_json(&c->pairs.at[i]);
    }
    return all ? all : json_null();
}

static json_t *members_json(const struct dh_racy_variable *v)
{
    json_t *all = json_array();
    for (size_t i = 0; i < v->members.n; i++)
        json_array_append_new(all, dh_json_text(v->members.at[i]->name));
    if (!v->members.n)
        json_array_append_new(all, dh_json_text(v->name));
    return all;
}

static const char *kind_of_no_failure(const struct dh_classified *c)
{
    if (c->verdict != DH_VERDICT_NO_FAILURE)
        return "";
    return c->no_failure == DH_STALE_SERVED ? "stale-reads-served" : "no-second-value";
}

char *dh_classified_json(const struct dh_classified *c, const char *witness, const struct dh_finding *f)
{
    json_t *o = json_object(), *columns = json_array();
    const char *const texts[][2] = {{"variable", c->variable->name},
                                    {"also", c->variable->also},
                                    {"verdict", dh_finding_verdict_name(c->verdict)},
                                    {"model", c->failed ? c->failed->model : ""},
                                    {"heuristic", c->failed ? c->failed->title : ""},
                                    {"failure", c->how ? c->how : ""},
                                    {"no_failure", kind_of_no_failure(c)},
                                    {"why", c->why},
                                    {"first_wrong_read", c->explanation},
                                    {"witness", witness}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_object_set_new(o, texts[i][0], dh_json_text(texts[i][1]));
    json_object_set_new(o, "free_running", json_boolean(c->is_free));
    json_object_set_new(o, "variables", members_json(c->variable));
    json_object_set_new(o, f ? "pair" : "pairs", pairs_json(c, f));
    json_object_set_new(o, "runs", json_integer((json_int_t)c->runs));
    json_object_set_new(o, "runs_failed", json_integer((json_int_t)(c->failed ? c->failed->failed : 0)));
    json_object_set_new(o, "runs_of_heuristic", json_integer((json_int_t)(c->failed ? c->failed->runs : 0)));
    json_object_set_new(o, "reads_with_a_choice", json_integer((json_int_t)c->open_loads));
    json_object_set_new(o, "stale_reads", json_integer((json_int_t)c->stale_loads));
    json_object_set_new(o, "stale_reads_in_witness", json_integer(c->failed ? c->run.end->n_stale : 0));
    json_object_set_new(o, "operations_ratio", json_real(c->slower));
    json_object_set_new(o, "instances", json_integer((json_int_t)c->instances));
    json_object_set_new(o, "writes", json_integer((json_int_t)c->stores));
    json_object_set_new(o, "buffer", json_integer(c->buffer_most));
    json_object_set_new(o, "buffer_without_gc", json_integer(c->buffer_written));
    json_object_set_new(o, "found_seconds", json_real((double)c->found_ns / 1e9));
    json_object_set_new(o, "budget_seconds", json_real((double)c->budget_ns / 1e9));
    json_object_set_new(o, "seconds", json_real((double)c->elapsed_ns / 1e9));
    for (unsigned i = 0; i < c->n_columns; i++)
        json_array_append_new(columns, column_json(&c->columns[i]));
    json_object_set_new(o, "heuristics", columns);
    return dh_json_take(o);
}

/* ---- keeping ---- */

enum { NAME_MOST = 80 };

/* A name for the file that has the name of the variable in it. */
static char *file_name(const struct dh_classified *c)
{
    struct dh_str s = {0};
    dh_str_add(&s, c->variable->findings.n ? c->variable->findings.at[0]->id : "");
    if (s.n)
        dh_str_add(&s, "-");
    size_t n = 0; /* of long names, such as those of C++ types, the beginning; the id tells them apart */
    for (const char *p = c->variable->name; *p && n < NAME_MOST; p++, n++)
        dh_str_addf(&s, "%c", isalnum((unsigned char)*p) ? *p : '_');
    if (c->variable->name[n])
        dh_str_addf(&s, "-%016llx", (unsigned long long)dh_hash_bytes(c->variable->name, strlen(c->variable->name)));
    dh_str_add(&s, "-stale" DH_WITNESS_SUFFIX);
    return dh_str_take(&s);
}

static bool keep_witness(const struct dh_classified *c, struct dh_subject *s, const char *folder, char **path,
                         struct dh_err *err)
{
    struct dh_witness w;
    char *name = file_name(c), *near = dh_format("%s/%s", folder, name);
    *path = dh_path_absolute(near);
    dh_subject_make_witness(s, &c->run.schedule, c->run.end,
                            c->variable->findings.n ? c->variable->findings.at[0]->id : "", &w);
    bool ok = dh_mkdir_parents(folder, 0755, err) && dh_witness_write(&w, *path, err);
    dh_witness_release(&w);
    free(near);
    free(name);
    return ok;
}

static bool keep_verdicts(const struct dh_classified *c, const struct dh_subject *s, const char *db,
                          const char *witness, struct dh_err *err)
{
    struct dh_store *store = dh_store_open(db, DH_STORE_WRITE, err);
    struct dh_store_run run = {s->program, "", 0};
    long long id;
    bool ok = store && dh_store_begin(store, &run, &id, err);
    for (size_t i = 0; ok && i < c->variable->findings.n; i++) {
        const struct dh_finding *f = c->variable->findings.at[i];
        if (!c->failed && f->verdict == DH_VERDICT_DESTRUCTIVE && strcmp(f->build, s->build) == 0)
            continue; /* a run of this build that fails stays one */
        char *json = dh_classified_json(c, witness, f);
        ok = dh_store_classify(store, f->id, f->build, c->verdict, json, err);
        free(json);
    }
    ok = ok && dh_store_commit(store, err);
    dh_store_close(store);
    return ok;
}

bool dh_classified_keep(const struct dh_classified *c, struct dh_subject *s, const char *db, const char *folder,
                        char **path, struct dh_err *err)
{
    *path = NULL;
    if (c->failed && !c->is_free && !keep_witness(c, s, folder, path, err))
        return false;
    if (!c->variable->findings.n || c->verdict == DH_VERDICT_NONE)
        return true;
    return keep_verdicts(c, s, db, *path ? *path : "", err);
}

bool dh_verdict_keep(const struct dh_finding *f, const char *program, const char *db, enum dh_finding_verdict verdict,
                     const char *why, const char *witness, struct dh_err *err)
{
    struct dh_store *store = dh_store_open(db, DH_STORE_WRITE, err);
    struct dh_store_run run = {program, "", (long long)time(NULL)};
    long long id;
    json_t *o = json_object();
    json_object_set_new(o, "verdict", dh_json_text(dh_finding_verdict_name(verdict)));
    json_object_set_new(o, "why", dh_json_text(why));
    json_object_set_new(o, "witness", dh_json_text(witness));
    char *details = dh_json_take(o);
    bool ok = store && dh_store_begin(store, &run, &id, err) &&
              dh_store_classify(store, f->id, f->build, verdict, details, err) && dh_store_commit(store, err);
    dh_store_close(store);
    free(details);
    return ok;
}
