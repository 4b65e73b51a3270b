#include "heal/healing.h"

#include "base/str.h"
#include "driver/policy_plan.h"
#include "finding/store.h"
#include "heal/all_sites.h"
#include "heal/means.h"
#include "heal/safety.h"
#include "host/notice.h"
#include "host/process.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- what is to be healed ---- */

static bool is_asked_for(const struct dh_healing *h, const struct dh_finding *f)
{
    for (size_t i = 0; i < h->job->n_ids; i++)
        if (strncmp(f->id, h->job->ids[i], strlen(h->job->ids[i])) == 0)
            return true;
    if (h->job->n_ids)
        return false;
    /* A suspicion is worth a lock unless it is a race, which may be one only for lack of a lock that is seen. */
    bool suspected = f->level == DH_LEVEL_SUSPECTED, race = f->kind == DH_FINDING_RACE;
    return !dh_heal_is_needless(f) && !(suspected && race);
}

static void take(void *arg, const struct dh_finding *f)
{
    struct dh_healing *h = arg;
    if (strcmp(f->build, h->build) != 0 && strcmp(f->program, h->program) != 0)
        return;
    if (!is_asked_for(h, f)) {
        h->others |= f->level != DH_LEVEL_SUSPECTED && !dh_heal_is_needless(f);
        return;
    }
    struct dh_finding *copy = dh_finding_copy(f);
    dh_finding_set(&copy->witness, f->witness);
    dh_vec_push(&h->findings, copy);
}

static bool read_findings(struct dh_healing *h, struct dh_err *err)
{
    struct dh_store_choice all = {0};
    if (!dh_file_exists(h->job->db))
        return dh_err_set(err, "no store %s; 'deadheat check' makes one", h->job->db);
    struct dh_store *store = dh_store_open(h->job->db, DH_STORE_READ, err);
    bool ok = store && dh_store_each(store, &all, take, h, err);
    dh_store_close(store);
    if (ok && !h->findings.n)
        return dh_err_set(err,
                          h->job->n_ids ? "no such finding of %s in %s" : "no finding of %s in %s that could be healed",
                          h->job->argv[0], h->job->db);
    return ok;
}

static bool read_program(struct dh_healing *h, struct dh_err *err)
{
    const char *why;
    char *found = dh_program_find(h->job->argv[0]);
    if (!found)
        return dh_err_set(err, "%s: there is no such program", h->job->argv[0]);
    h->program = dh_path_real(found);
    free(found);
    if (!dh_container_open(&h->container, h->program, err) ||
        !dh_container_read(&h->container, DH_PART_SITES, &h->site_bytes, err))
        return false;
    dh_id_text(&h->container.id, h->build);
    struct dh_err ignored = {0};
    h->has_scopes = dh_container_find(&h->container, DH_PART_SCOPES) &&
                    dh_container_read(&h->container, DH_PART_SCOPES, &h->scope_bytes, &ignored) &&
                    dh_scope_table_read(&h->scopes, h->scope_bytes.at, h->scope_bytes.n, &why);
    dh_err_release(&ignored);
    struct dh_site_table own;
    if (!dh_site_table_read(&own, h->site_bytes.at, h->site_bytes.n, &why))
        return dh_err_set(err, "%s", why);
    h->all_sites = dh_all_sites(h->program, &own, err);
    if (h->all_sites)
        h->sites = dh_site_builder_view(h->all_sites);
    return h->all_sites;
}

/* ---- what is kept ---- */

static const char *const means_names[] = {
    [DH_HEAL_LOCK] = "lock", [DH_HEAL_SCHEDULE] = "schedule", [DH_HEAL_ORDER] = "order"};

const char *dh_heal_means_name(enum dh_heal_means means)
{
    return means_names[means];
}

/* Why no section heals it, or NULL. */
static const char *left_out(const struct dh_healing *h, const char *id)
{
    for (size_t i = 0; i < h->draft.rest.n; i++)
        if (strcmp(h->draft.rest.at[i].id, id) == 0)
            return h->draft.rest.at[i].why;
    return NULL;
}

/* Healing by scheduling alone cannot be verified by an empty search. */
static bool is_only_scheduled(const struct dh_healing *h, const char *id)
{
    for (size_t g = 0; g < h->draft.groups.n; g++)
        for (size_t i = 0; i < h->draft.groups.at[g].findings.n; i++)
            if (strcmp(h->draft.groups.at[g].findings.at[i], id) == 0)
                return h->draft.groups.at[g].means == DH_HEAL_SCHEDULE;
    return false;
}

bool dh_healing_comes_along(const struct dh_healing *h, const char *id)
{
    for (size_t i = 0; i < h->draft.sections.n; i++) {
        const dh_text_vec *of = &h->draft.groups.at[h->draft.sections.at[i].group].findings;
        for (size_t k = 0; k < of->n; k++)
            if (strcmp(of->at[k], id) == 0)
                return false;
    }
    return true;
}

static enum dh_heal_means means_of(const struct dh_healing *h, const char *id)
{
    for (size_t g = 0; g < h->draft.groups.n; g++)
        for (size_t i = 0; i < h->draft.groups.at[g].findings.n; i++)
            if (strcmp(h->draft.groups.at[g].findings.at[i], id) == 0)
                return h->draft.groups.at[g].means;
    return DH_HEAL_LOCK;
}

/* NULL: it holds for the finding, or nothing was tried. */
static const char *refuted(const struct dh_heal_outcome *o, const char *id)
{
    for (size_t i = 0; o && i < o->guarded.n; i++)
        if (strcmp(o->guarded.at[i]->id, id) == 0)
            return o->verified.why ? o->verified.why : o->verified.refuted[i].why;
    return NULL;
}

/* How it came to that; NULL when nothing was tried. */
static char *details_of(const struct dh_healing *h, const char *id, const struct dh_heal_outcome *outcome)
{
    json_t *o = json_object();
    json_object_set_new(o, "policy", json_string(h->job->output));
    json_object_set_new(o, "means", json_string(means_names[means_of(h, id)]));
    if (outcome) {
        const char *why = refuted(outcome, id);
        json_object_set_new(o, "budget", json_string(h->job->budget));
        json_object_set_new(o, "seconds", json_real(outcome->seconds));
        json_object_set_new(o, "witnesses", json_integer(outcome->verified.witnesses));
        json_object_set_new(o, "search",
                            outcome->verified.search ? json_string(outcome->verified.search) : json_null());
        if (why)
            json_object_set_new(o, "why", json_string(why));
    }
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(4));
    json_decref(o);
    return text ? text : dh_strdup("{}");
}

static bool keep_refusal(const struct dh_healing *h, struct dh_store *store, const char *finding, const char *why,
                         struct dh_err *err)
{
    json_t *o = json_object();
    json_object_set_new(o, "why", json_string(why));
    char *details = json_dumps(o, JSON_COMPACT);
    bool ok = dh_store_healed(store, finding, h->build, details ? details : "{}", err);
    json_decref(o);
    free(details);
    return ok;
}

static bool keep(struct dh_healing *h, const struct dh_heal_outcome *o, struct dh_err *err)
{
    struct dh_store *store = dh_store_open(h->job->db, DH_STORE_WRITE, err);
    struct dh_store_run run = {h->program, "", 0};
    long long id;
    bool ok = store && dh_store_begin(store, &run, &id, err);
    for (size_t i = 0; ok && i < h->findings.n; i++) {
        const char *finding = h->findings.at[i]->id, *refusal = left_out(h, finding);
        if (refusal) {
            ok = keep_refusal(h, store, finding, refusal, err);
            continue;
        }
        bool verified = o && !refuted(o, finding) && !is_only_scheduled(h, finding);
        enum dh_finding_healing healing = verified                             ? DH_HEALING_VERIFIED
                                          : dh_healing_comes_along(h, finding) ? DH_HEALING_NONE
                                                                               : DH_HEALING_OFFERED;
        char *details = details_of(h, finding, o);
        ok = dh_store_heal(store, finding, healing, err) && dh_store_healed(store, finding, h->build, details, err);
        free(details);
    }
    ok = ok && dh_store_commit(store, err);
    dh_store_close(store);
    return ok;
}

/* ---- verifying ---- */

static bool try_policy(struct dh_healing *h, bool hasty, struct dh_heal_outcome *o, struct dh_err *err)
{
    *o = (struct dh_heal_outcome){.seconds = 0};
    for (size_t i = 0; i < h->findings.n; i++)
        if (!left_out(h, h->findings.at[i]->id) && !is_only_scheduled(h, h->findings.at[i]->id))
            dh_vec_push(&o->guarded, h->findings.at[i]);
    struct dh_heal_verifying v = {.policy = h->job->output,
                                  .budget_ns = h->job->budget_ns,
                                  .schedules = h->job->schedules,
                                  .argv = h->job->argv,
                                  .findings = o->guarded.at,
                                  .n = o->guarded.n,
                                  .known = (const struct dh_finding *const *)h->findings.at,
                                  .n_known = h->findings.n,
                                  .complete = !h->others && o->guarded.n == h->findings.n,
                                  .hasty = hasty,
                                  .progress = h->job->progress};
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    bool ok = dh_heal_verify(&v, &o->verified, err);
    clock_gettime(CLOCK_MONOTONIC, &to);
    o->seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    return ok;
}

static void release_outcome(struct dh_heal_outcome *o)
{
    dh_heal_verified_release(&o->verified);
    dh_vec_release(&o->guarded);
    *o = (struct dh_heal_outcome){.seconds = 0};
}

static bool write_policy(struct dh_healing *h, struct dh_err *err)
{
    char *text = dh_draft_print(&h->draft, h->job->argv[0]);
    bool ok = dh_file_write(h->job->output, text, strlen(text), 0644, err) &&
              dh_policy_matches(h->job->output, h->program, false, NULL, err);
    free(text);
    return ok;
}

/* A new draft, made safe and written. */
static bool make_policy(struct dh_healing *h, bool notes, struct dh_err *err)
{
    dh_draft_release(&h->draft);
    dh_draft_init(&h->draft, &h->sites, h->has_scopes ? &h->scopes : NULL);
    dh_draft_make(&h->draft, (const struct dh_finding *const *)h->findings.at, h->findings.n, &h->late);
    return dh_heal_choose(&h->draft, h->program, h->job->means, notes, err) &&
           (!h->draft.sections.n || write_policy(h, err));
}

/* Races whose accesses are mutually exclusive by now, and which fail as before. */
static void find_late(struct dh_healing *h, const struct dh_heal_outcome *o)
{
    for (size_t i = 0; i < o->guarded.n; i++)
        if (o->verified.refuted[i].directly && dh_draft_may_wait(o->guarded.at[i]))
            dh_vec_push(&h->late, o->guarded.at[i]->id);
}

/* A lock does not order accesses: a read that comes too early is made to wait for the write, if that heals more. */
static bool try_order(struct dh_healing *h, struct dh_heal_outcome *o, struct dh_err *err)
{
    struct dh_heal_outcome other = {.seconds = 0};
    if (!make_policy(h, true, err))
        return false;
    bool ok = !h->draft.sections.n || try_policy(h, false, &other, err);
    bool better =
        other.guarded.n >= o->guarded.n && !other.verified.why && other.verified.n_refuted < o->verified.n_refuted;
    release_outcome(ok && better ? o : &other);
    if (ok && better) {
        *o = other;
        return true;
    }
    h->late.n = 0;
    if (!ok || !make_policy(h, false, err))
        return false;
    release_outcome(o);
    return try_policy(h, false, o, err);
}

static bool try_means(struct dh_healing *h, struct dh_heal_outcome *o, struct dh_err *err)
{
    bool open = strcmp(h->job->means, "auto") == 0;
    if (!try_policy(h, open, o, err))
        return false;
    if (open && !o->verified.why)
        find_late(h, o);
    if (h->late.n)
        return try_order(h, o, err);
    if (!open || !o->verified.n_refuted)
        return true;
    release_outcome(o);
    return try_policy(h, false, o, err);
}

/* ---- sections instead of findings ---- */

static bool has_site(const struct dh_healing *h, const char *name)
{
    for (uint32_t i = 0; i < h->sites.n_sites; i++)
        if (dh_policy_names_site(&h->sites, &h->sites.sites[i], name))
            return true;
    return false;
}

static bool draft_sections(struct dh_healing *h, const char *file, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_sections f;
    struct dh_sections_error e;
    if (!dh_file_read(file, &b, err))
        return false;
    bool ok = dh_sections_read(&f, (const char *)b.at, b.n, malloc, &e) ||
              dh_err_set(err, "%s:%u:%u: %s", file, e.line, e.column, e.text);
    dh_bytes_release(&b);
    for (uint32_t i = 0; ok && i < f.n_points; i++)
        if (!has_site(h, f.sites[f.points[i].site]))
            ok = dh_err_set(err, "%s:%u: no site of %s is '%s'; expected one that 'deadheat sites' lists", file,
                            f.points[i].line, h->job->argv[0], f.sites[f.points[i].site]);
    if (ok && !f.n_sections)
        ok = dh_err_set(err, "%s has no section; 'deadheat scan --sections' writes such files", file);
    if (ok)
        dh_draft_sections(&h->draft, &f);
    return ok;
}

/* ---- the job ---- */

/* What is only suspected must not keep from healing what was seen. False: there is nothing else, or it was asked for.
 */
static bool leave_suspicions(struct dh_healing *h)
{
    size_t kept = 0, n = h->findings.n;
    for (size_t i = 0; i < n; i++)
        kept += h->findings.at[i]->level != DH_LEVEL_SUSPECTED;
    if (!kept || kept == n || h->job->n_ids)
        return false;
    kept = 0;
    for (size_t i = 0; i < n; i++)
        if (h->findings.at[i]->level != DH_LEVEL_SUSPECTED)
            h->findings.at[kept++] = h->findings.at[i];
        else {
            dh_finding_release(h->findings.at[i]);
            free(h->findings.at[i]);
        }
    h->findings.n = kept;
    dh_notice(
        "heal: %zu findings that are only suspected are left out: they would be too many sections; name them by id",
        n - kept);
    return true;
}

bool dh_healing_open(struct dh_healing *h, const struct dh_heal_job *job, struct dh_err *err)
{
    *h = (struct dh_healing){.job = job};
    return read_program(h, err);
}

bool dh_healing_draft(struct dh_healing *h, struct dh_err *err)
{
    dh_draft_init(&h->draft, &h->sites, h->has_scopes ? &h->scopes : NULL);
    if (h->job->sections)
        return draft_sections(h, h->job->sections, err);
    if (!read_findings(h, err))
        return false;
    dh_draft_make(&h->draft, (const struct dh_finding *const *)h->findings.at, h->findings.n, &h->late);
    if (h->draft.sections.n > DH_HEAL_SECTIONS && leave_suspicions(h)) {
        dh_draft_release(&h->draft);
        dh_draft_init(&h->draft, &h->sites, h->has_scopes ? &h->scopes : NULL);
        dh_draft_make(&h->draft, (const struct dh_finding *const *)h->findings.at, h->findings.n, &h->late);
    }
    return true;
}

bool dh_healing_write(struct dh_healing *h, struct dh_err *err)
{
    return dh_heal_choose(&h->draft, h->program, h->job->means, true, err) &&
           (!h->draft.sections.n || write_policy(h, err));
}

bool dh_healing_offer(struct dh_healing *h, struct dh_err *err)
{
    return keep(h, NULL, err);
}

bool dh_healing_verify(struct dh_healing *h, struct dh_err *err)
{
    return try_means(h, &h->outcome, err) && keep(h, &h->outcome, err);
}

bool dh_healing_verify_sections(struct dh_healing *h, struct dh_err *err)
{
    struct dh_heal_verifying v = {.policy = h->job->output,
                                  .budget_ns = h->job->budget_ns,
                                  .schedules = h->job->schedules,
                                  .argv = h->job->argv,
                                  .progress = h->job->progress};
    return dh_heal_verify(&v, &h->outcome.verified, err);
}

bool dh_healing_is_complete(const struct dh_healing *h)
{
    const struct dh_heal_outcome *o = &h->outcome;
    return o->verified.holds && o->guarded.n && o->guarded.n == h->findings.n;
}

void dh_healing_release(struct dh_healing *h)
{
    for (size_t i = 0; i < h->findings.n; i++) {
        dh_finding_release(h->findings.at[i]);
        free(h->findings.at[i]);
    }
    release_outcome(&h->outcome);
    dh_vec_release(&h->findings);
    dh_vec_release(&h->late);
    dh_draft_release(&h->draft);
    if (h->all_sites)
        dh_site_builder_free(h->all_sites);
    free(h->program);
    *h = (struct dh_healing){.job = NULL};
}
