/* deadheat heal: a policy from what was found, safe and verified. */
#include "base/str.h"
#include "cmd/command.h"
#include "cmd/prove_goals.h"
#include "driver/policy_plan.h"
#include "heal/means.h"
#include "heal/patch.h"
#include "heal/policy.h"
#include "heal/safety.h"
#include "heal/verify.h"
#include "host/file.h"
#include "host/process.h"
#include "image/container.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct healing {
    const struct dh_parsed *parsed;
    const char *db, *output;
    char **argv, *program;
    dh_text_vec ids;
    DH_VEC(struct dh_finding *) findings;
    struct dh_container container;
    struct dh_bytes bytes, scope_bytes;
    struct dh_site_table sites;
    struct dh_scope_table scopes;
    bool has_scopes;
    struct dh_draft draft;
    char build[33];
    bool others;      /* there is more in the store that does harm */
    dh_text_vec late; /* findings that are healed by order, since a lock does not put them right */
};

/* ---- what is to be healed ---- */

static bool is_asked_for(const struct healing *h, const struct dh_finding *f)
{
    for (size_t i = 0; i < h->ids.n; i++)
        if (strncmp(f->id, h->ids.at[i], strlen(h->ids.at[i])) == 0)
            return true;
    if (h->ids.n)
        return false;
    /* What may be is worth a lock where it is not just a lack of one. */
    bool suspected = strcmp(f->level, "suspected") == 0, race = strcmp(f->kind, "race") == 0;
    return !dh_heal_is_needless(f) && !(suspected && race);
}

static void take(void *arg, const struct dh_finding *f)
{
    struct healing *h = arg;
    if (strcmp(f->build, h->build) != 0 && strcmp(f->program, h->program) != 0)
        return;
    if (!is_asked_for(h, f)) {
        h->others |= strcmp(f->level, "suspected") != 0 && !dh_heal_is_needless(f);
        return;
    }
    struct dh_finding *copy = dh_goals_copy(f);
    dh_finding_set(&copy->witness, f->witness);
    dh_vec_push(&h->findings, copy);
}

static bool read_findings(struct healing *h, struct dh_err *err)
{
    struct dh_store_choice all = {0};
    if (!dh_file_exists(h->db))
        return dh_err_set(err, "no store %s; 'deadheat check' makes one", h->db);
    struct dh_store *store = dh_store_open(h->db, DH_STORE_READ, err);
    bool ok = store && dh_store_each(store, &all, take, h, err);
    dh_store_close(store);
    if (ok && !h->findings.n)
        return dh_err_set(err, h->ids.n ? "no such finding of %s in %s" : "no finding of %s in %s that could be healed",
                          h->argv[0], h->db);
    return ok;
}

static bool read_program(struct healing *h, struct dh_err *err)
{
    const char *why;
    char *found = dh_program_find(h->argv[0]);
    if (!found)
        return dh_err_set(err, "%s: there is no such program", h->argv[0]);
    h->program = dh_path_real(found);
    free(found);
    if (!dh_container_open(&h->container, h->program, err) ||
        !dh_container_read(&h->container, DH_PART_SITES, &h->bytes, err))
        return false;
    dh_id_text(&h->container.id, h->build);
    struct dh_err ignored = {0};
    h->has_scopes = dh_container_find(&h->container, DH_PART_SCOPES) &&
                    dh_container_read(&h->container, DH_PART_SCOPES, &h->scope_bytes, &ignored) &&
                    dh_scope_table_read(&h->scopes, h->scope_bytes.at, h->scope_bytes.n, &why);
    dh_err_release(&ignored);
    return dh_site_table_read(&h->sites, h->bytes.at, h->bytes.n, &why) || dh_err_set(err, "%s", why);
}

/* ---- telling and keeping ---- */

static const char *const means_names[] = {
    [DH_HEAL_LOCK] = "lock", [DH_HEAL_SCHEDULE] = "schedule", [DH_HEAL_ORDER] = "order"};

static void tell(const struct healing *h)
{
    for (size_t g = 0; g < h->draft.groups.n; g++) {
        const struct dh_draft_group *group = &h->draft.groups.at[g];
        unsigned n = 0;
        for (size_t i = 0; i < h->draft.sections.n; i++)
            n += h->draft.sections.at[i].group == g;
        if (!n)
            continue;
        printf("%s by %s%s, %u section%s:", group->name, means_names[group->means],
               group->by_object ? " of each object" : "", n, n == 1 ? "" : "s");
        for (size_t i = 0; i < group->findings.n; i++)
            printf(group->findings.at[i][0] ? " %.8s" : "%s", group->findings.at[i]);
        printf("\n");
    }
    for (size_t i = 0; i < h->draft.rest.n; i++)
        printf("%.8s is not healed: %s\n", h->draft.rest.at[i].id, h->draft.rest.at[i].why);
}

static bool is_left_out(const struct healing *h, const char *id)
{
    for (size_t i = 0; i < h->draft.rest.n; i++)
        if (strcmp(h->draft.rest.at[i].id, id) == 0)
            return true;
    return false;
}

/* Who may only hope is not verified by a search that found nothing. */
static bool is_only_scheduled(const struct healing *h, const char *id)
{
    for (size_t g = 0; g < h->draft.groups.n; g++)
        for (size_t i = 0; i < h->draft.groups.at[g].findings.n; i++)
            if (strcmp(h->draft.groups.at[g].findings.at[i], id) == 0)
                return h->draft.groups.at[g].means == DH_HEAL_SCHEDULE;
    return false;
}

/* A failure, or a race with free: of a group of something else, if of any. */
static bool comes_along(const struct healing *h, const char *id)
{
    for (size_t i = 0; i < h->draft.sections.n; i++) {
        const dh_text_vec *of = &h->draft.groups.at[h->draft.sections.at[i].group].findings;
        for (size_t k = 0; k < of->n; k++)
            if (strcmp(of->at[k], id) == 0)
                return false;
    }
    return true;
}

static enum dh_heal_means means_of(const struct healing *h, const char *id)
{
    for (size_t g = 0; g < h->draft.groups.n; g++)
        for (size_t i = 0; i < h->draft.groups.at[g].findings.n; i++)
            if (strcmp(h->draft.groups.at[g].findings.at[i], id) == 0)
                return h->draft.groups.at[g].means;
    return DH_HEAL_LOCK;
}

/* What a policy came to. */
struct outcome {
    DH_VEC(const struct dh_finding *) guarded; /* that it is to heal, and does not only hope to */
    struct dh_heal_verified of;                /* of these */
    double seconds;
};

/* NULL: it holds for the finding, or nothing was tried. */
static const char *refuted(const struct outcome *o, const char *id)
{
    for (size_t i = 0; o && i < o->guarded.n; i++)
        if (strcmp(o->guarded.at[i]->id, id) == 0)
            return o->of.why ? o->of.why : o->of.refuted[i].why;
    return NULL;
}

/* How it came to that; NULL when nothing was tried. */
static char *details_of(const struct healing *h, const char *id, const struct outcome *outcome)
{
    json_t *o = json_object();
    json_object_set_new(o, "policy", json_string(h->output));
    json_object_set_new(o, "means", json_string(means_names[means_of(h, id)]));
    if (outcome) {
        const char *why = refuted(outcome, id);
        json_object_set_new(o, "budget", json_string(dh_option_get(h->parsed, "budget")));
        json_object_set_new(o, "seconds", json_real(outcome->seconds));
        json_object_set_new(o, "witnesses", json_integer(outcome->of.witnesses));
        json_object_set_new(o, "search", outcome->of.search ? json_string(outcome->of.search) : json_null());
        if (why)
            json_object_set_new(o, "why", json_string(why));
    }
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(4));
    json_decref(o);
    return text ? text : dh_strdup("{}");
}

static bool keep(struct healing *h, const struct outcome *o, struct dh_err *err)
{
    struct dh_store *store = dh_store_open(h->db, DH_STORE_WRITE, err);
    struct dh_store_run run = {h->program, "", 0};
    long long id;
    bool ok = store && dh_store_begin(store, &run, &id, err);
    for (size_t i = 0; ok && i < h->findings.n; i++) {
        const char *finding = h->findings.at[i]->id;
        if (is_left_out(h, finding))
            continue;
        bool verified = o && !refuted(o, finding) && !is_only_scheduled(h, finding);
        const char *healing = verified ? "verified" : comes_along(h, finding) ? "none" : "offered";
        char *details = details_of(h, finding, o);
        ok = dh_store_heal(store, finding, healing, err) && dh_store_healed(store, finding, h->build, details, err);
        free(details);
    }
    ok = ok && dh_store_commit(store, err);
    dh_store_close(store);
    return ok;
}

/* ---- trying it ---- */

static bool try_policy(struct healing *h, bool hasty, struct outcome *o, struct dh_err *err)
{
    *o = (struct outcome){.seconds = 0};
    for (size_t i = 0; i < h->findings.n; i++)
        if (!is_left_out(h, h->findings.at[i]->id) && !is_only_scheduled(h, h->findings.at[i]->id))
            dh_vec_push(&o->guarded, h->findings.at[i]);
    struct dh_heal_verifying v = {.policy = h->output,
                                  .budget = dh_option_get(h->parsed, "budget"),
                                  .argv = h->argv,
                                  .findings = o->guarded.at,
                                  .n = o->guarded.n,
                                  .complete = !h->others && o->guarded.n == h->findings.n,
                                  .hasty = hasty};
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    bool ok = dh_heal_verify(&v, &o->of, err);
    clock_gettime(CLOCK_MONOTONIC, &to);
    o->seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    return ok;
}

static void release_outcome(struct outcome *o)
{
    dh_heal_verified_release(&o->of);
    dh_vec_release(&o->guarded);
}

static bool write_policy(struct healing *h, struct dh_err *err)
{
    char *text = dh_draft_print(&h->draft, h->argv[0]);
    bool ok = dh_file_write(h->output, text, strlen(text), 0644, err) &&
              dh_policy_matches(h->output, h->program, false, NULL, err);
    free(text);
    return ok;
}

/* Safe, and written down; of what is left of it. */
static bool make_policy(struct healing *h, bool tells, struct dh_err *err)
{
    dh_draft_release(&h->draft);
    dh_draft_init(&h->draft, &h->sites, h->has_scopes ? &h->scopes : NULL);
    dh_draft_make(&h->draft, (const struct dh_finding *const *)h->findings.at, h->findings.n, &h->late);
    return dh_heal_choose(&h->draft, h->program, dh_option_get(h->parsed, "means"), tells, err) &&
           (!h->draft.sections.n || write_policy(h, err));
}

/* Races whose accesses are kept apart by now, and which fail as before. */
static void find_late(struct healing *h, const struct outcome *o)
{
    for (size_t i = 0; i < o->guarded.n; i++)
        if (o->of.refuted[i].directly && dh_draft_may_wait(o->guarded.at[i]))
            dh_vec_push(&h->late, o->guarded.at[i]->id);
}

/* A lock does not put into order what must come first: who comes too early is made to wait, if that does more. */
static bool try_order(struct healing *h, struct outcome *o, struct dh_err *err)
{
    struct outcome other = {.seconds = 0};
    if (!make_policy(h, true, err))
        return false;
    bool ok = !h->draft.sections.n || try_policy(h, false, &other, err);
    bool better = other.guarded.n >= o->guarded.n && !other.of.why && other.of.n_refuted < o->of.n_refuted;
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

static bool try_means(struct healing *h, struct outcome *o, struct dh_err *err)
{
    bool open = strcmp(dh_option_get(h->parsed, "means"), "auto") == 0;
    if (!try_policy(h, open, o, err))
        return false;
    if (open && !o->of.why)
        find_late(h, o);
    if (h->late.n)
        return try_order(h, o, err);
    if (!open || !o->of.n_refuted)
        return true;
    release_outcome(o);
    return try_policy(h, false, o, err);
}

static void tell_outcome(const struct healing *h, const struct outcome *o)
{
    const struct dh_heal_verified *r = &o->of;
    bool any = o->guarded.n > r->n_refuted && !r->why, all = o->guarded.n == h->findings.n && r->holds;
    if (any)
        printf("verified%s%s: %u witness%s no longer happen%s; %s\n", all ? "" : " in part",
               r->unsearched ? " by runs" : "", r->witnesses, r->witnesses == 1 ? "" : "es",
               r->witnesses == 1 ? "s" : "", r->search);
    else if (r->why || !o->guarded.n)
        printf("offered, not verified: %s\n", r->why ? r->why : "by schedule nothing is guaranteed");
    for (size_t i = 0; !r->why && i < o->guarded.n; i++)
        if (r->refuted[i].why)
            printf("%.8s is %s: %s\n", o->guarded.at[i]->id,
                   comes_along(h, o->guarded.at[i]->id) ? "not healed" : "offered, not verified", r->refuted[i].why);
}

static int verify(struct healing *h)
{
    struct dh_err err = {0};
    struct outcome o = {.seconds = 0};
    bool ok = try_means(h, &o, &err) && keep(h, &o, &err);
    bool all = ok && o.of.holds && o.guarded.n && o.guarded.n == h->findings.n;
    if (ok) {
        tell(h);
        tell_outcome(h, &o);
    }
    release_outcome(&o);
    return !ok ? dh_fail(&err, DH_EXIT_FAILURE) : all ? DH_EXIT_OK : DH_EXIT_FINDINGS;
}

/* Without findings there is nothing to be gone but what the policy could bring about. */
static int verify_sections(struct healing *h)
{
    struct dh_err err = {0};
    struct dh_heal_verified r;
    struct dh_heal_verifying v = {.policy = h->output, .budget = dh_option_get(h->parsed, "budget"), .argv = h->argv};
    bool ok = dh_heal_verify(&v, &r, &err), holds = ok && r.holds;
    if (holds)
        printf("tried: no deadlock comes of it; %s\n", r.search ? r.search : "");
    else if (ok)
        printf("offered, not verified: %s\n", r.why);
    dh_heal_verified_release(&r);
    return !ok ? dh_fail(&err, DH_EXIT_FAILURE) : holds ? DH_EXIT_OK : DH_EXIT_FINDINGS;
}

/* The diff alone goes to standard output, so that it can be kept. */
static int suggest(const struct healing *h)
{
    char *why, *diff = dh_patch_make(&h->draft, &why);
    fputs(diff, stdout);
    for (char *at = why, *line; at && (line = strsep(&at, "\n"));)
        if (*line)
            dh_complain("heal: --patch: no suggestion for %s", line);
    bool any = *diff;
    free(diff);
    free(why);
    return any ? DH_EXIT_OK : DH_EXIT_FINDINGS;
}

/* ---- sections instead of findings ---- */

static bool has_site(const struct healing *h, const char *name)
{
    for (uint32_t i = 0; i < h->sites.n_sites; i++)
        if (dh_policy_names_site(&h->sites, &h->sites.sites[i], name))
            return true;
    return false;
}

static bool draft_sections(struct healing *h, const char *file, struct dh_err *err)
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
                            f.points[i].line, h->argv[0], f.sites[f.points[i].site]);
    if (ok && !f.n_sections)
        ok = dh_err_set(err, "%s has no section; 'deadheat scan --sections' writes such files", file);
    if (ok)
        dh_draft_sections(&h->draft, &f);
    return ok;
}

static bool draft(struct healing *h, struct dh_err *err)
{
    if (!read_program(h, err))
        return false;
    dh_draft_init(&h->draft, &h->sites, h->has_scopes ? &h->scopes : NULL);
    if (dh_option_given(h->parsed, "sections"))
        return draft_sections(h, dh_option_get(h->parsed, "sections"), err);
    if (!read_findings(h, err))
        return false;
    dh_draft_make(&h->draft, (const struct dh_finding *const *)h->findings.at, h->findings.n, &h->late);
    return true;
}

static int heal(struct healing *h)
{
    struct dh_err err = {0};
    if (!draft(h, &err)) {
        dh_complain("heal: %s", err.text);
        dh_err_release(&err);
        return DH_EXIT_USAGE;
    }
    if (dh_option_given(h->parsed, "patch"))
        return suggest(h);
    bool sections = dh_option_given(h->parsed, "sections"), tries = !dh_option_given(h->parsed, "no-verify");
    if (!dh_heal_choose(&h->draft, h->program, dh_option_get(h->parsed, "means"), true, &err) ||
        (h->draft.sections.n && !write_policy(h, &err)))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if (sections || !tries || !h->draft.sections.n)
        tell(h);
    if (!h->draft.sections.n)
        return DH_EXIT_FINDINGS;
    int code = DH_EXIT_OK;
    if (tries)
        code = sections ? verify_sections(h) : verify(h);
    else if (!sections && !keep(h, NULL, &err))
        code = dh_fail(&err, DH_EXIT_FAILURE);
    printf("policy: %s\n  deadheat run --heal=%s -- %s\n", h->output, h->output, h->argv[0]);
    return code;
}

/* ---- a policy by hand ---- */

static int check_policy(struct healing *h, const char *policy)
{
    struct dh_err err = {0};
    struct dh_heal_risks risks = {.at = {0}};
    struct dh_bytes b;
    if (!read_program(h, &err) || !dh_policy_matches(policy, h->program, false, NULL, &err) ||
        !dh_file_read(policy, &b, &err)) {
        dh_complain("heal: %s", err.text);
        dh_err_release(&err);
        return DH_EXIT_USAGE;
    }
    bool ok = dh_heal_safety(h->program, (const char *)b.at, b.n, &risks, &err);
    dh_bytes_release(&b);
    bool safe = true;
    for (size_t i = 0; ok && i < risks.at.n; i++) {
        bool risk = risks.at.at[i].kind < DH_RISK_KINDS;
        if (risk || risks.at.at[i].kind == DH_RISK_BY_OBJECT)
            printf("%s: %s\n", risks.at.at[i].group, risks.at.at[i].text);
        safe &= !risk;
    }
    if (ok && safe)
        printf("safe: no circle of locks, no wait and no blocking call inside, as far as calls can be followed\n");
    int code = !ok ? dh_fail(&err, DH_EXIT_FAILURE) : !safe ? DH_EXIT_FINDINGS : DH_EXIT_OK;
    dh_heal_risks_release(&risks);
    return code;
}

/* ---- from the command line ---- */

/* Words before the program that could be ids, and are no files, are. */
static bool is_id(const char *word)
{
    size_t n = strlen(word);
    return n >= 4 && n <= 16 && strspn(word, "0123456789abcdef") == n && !dh_file_exists(word);
}

static int heal_with(const struct dh_parsed *p)
{
    struct healing h = {.parsed = p, .db = dh_option_get(p, "db"), .output = dh_option_get(p, "-o")};
    int n = dh_operands(p, &h.argv), code = DH_EXIT_USAGE;
    for (; n > 1 && is_id(h.argv[0]); n--)
        dh_vec_push(&h.ids, *h.argv++);
    if (n < 1)
        dh_complain("heal: name a program: deadheat heal [OPTION...] [ID...] -- PROG args");
    else
        code = dh_option_given(p, "check") ? check_policy(&h, dh_option_get(p, "check")) : heal(&h);
    for (size_t i = 0; i < h.findings.n; i++) {
        dh_finding_release(h.findings.at[i]);
        free(h.findings.at[i]);
    }
    dh_vec_release(&h.findings);
    dh_vec_release(&h.ids);
    dh_vec_release(&h.late);
    dh_draft_release(&h.draft);
    free(h.program);
    return code;
}

static int run_heal(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_options(self, argc, argv, heal_with);
}

static const struct dh_option options[] = {
    {"db", DH_OPTION_STRING, "FILE", DH_STORE_DEFAULT, "store of findings"},
    {"-o", DH_OPTION_STRING, "FILE", "policy.dhp", "where the policy goes"},
    {"means", DH_OPTION_CHOICE, "auto|lock|schedule", "auto",
     "auto: the strongest that is safe; lock: that or nothing; schedule: others are let pass, nobody is kept out"},
    {"budget", DH_OPTION_STRING, "TIME", "5s",
     "how long each search may take: for what is healed, for new deadlocks, for wrong ends"},
    {"sections", DH_OPTION_STRING, "FILE", NULL,
     "heal the sections of this file ('deadheat scan --sections' writes such) instead of findings"},
    {"check", DH_OPTION_STRING, "POLICY", NULL, "say whether this policy is safe for the program, and nothing else"},
    {"patch", DH_OPTION_FLAG, NULL, NULL,
     "print a suggestion how to mend the source, as a unified diff, for what is simple; to read, nothing is changed"},
    {"no-verify", DH_OPTION_FLAG, NULL, NULL, "write the policy and do not try it"},
    {0}};

const struct dh_command dh_command_heal = {
    .name = "heal",
    .usage = "[OPTION...] [ID...] -- PROG [ARG...]",
    .summary = "write a policy under which a program runs without its bug",
    .description =
        "Takes races, atomicity violations, inconsistent views and deadlocks of the program from the store (those "
        "with\n"
        "the given ids, or all that matter) and writes a policy: which parts of the program must not be interrupted "
        "by\n"
        "others, and by which means. A lock is added only where no circle of locks can come of it on any path, and\n"
        "nothing waits inside; else threads are only let pass. Then witnesses and failing runs are replayed under the\n"
        "policy, and searches look for what is healed, for failures and for new deadlocks. A race that fails under a "
        "lock\n"
        "as before is tried by order: who reads waits until it was written. Each finding's healing becomes verified, "
        "or\n"
        "offered with the reason.\n\n"
        "Exit status 0: all is healed and verified; 1: not all; 2: bad usage.",
    .examples = "  deadheat check -- ./bank; deadheat heal -o bank.dhp -- ./bank\n"
                "  deadheat heal 3f2a91c0 --means=schedule -- ./server\n"
                "  deadheat run --heal=bank.dhp -- ./bank\n",
    .options = options,
    .run = run_heal,
};
