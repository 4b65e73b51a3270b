/* deadheat heal: prints what healing the findings of a program comes to (heal/healing.h). */
#include "cmd/campaign_progress.h"
#include "cmd/command.h"
#include "driver/policy_plan.h"
#include "finding/store.h"
#include "heal/healing.h"
#include "heal/patch.h"
#include "heal/safety.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing ---- */

static void print_groups(const struct dh_draft *d)
{
    for (size_t g = 0; g < d->groups.n; g++) {
        const struct dh_draft_group *group = &d->groups.at[g];
        unsigned n = 0;
        for (size_t i = 0; i < d->sections.n; i++)
            n += d->sections.at[i].group == g;
        if (!n)
            continue;
        printf("%s by %s%s, %u section%s:", group->name, dh_heal_means_name(group->means),
               group->by_object ? " of each object" : "", n, n == 1 ? "" : "s");
        for (size_t i = 0; i < group->findings.n; i++)
            printf(group->findings.at[i][0] ? " %.8s" : "%s", group->findings.at[i]);
        printf("\n");
    }
    for (size_t i = 0; i < d->rest.n; i++)
        printf("%.8s is not healed: %s\n", d->rest.at[i].id, d->rest.at[i].why);
}

static void print_outcome(const struct dh_healing *h)
{
    const struct dh_heal_outcome *o = &h->outcome;
    const struct dh_heal_verified *r = &o->verified;
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
                   dh_healing_comes_along(h, o->guarded.at[i]->id) ? "not healed" : "offered, not verified",
                   r->refuted[i].why);
}

/* In the child that searches; the line vanishes with the next one or at the end. */
static void progress(const struct dh_campaign_state *s)
{
    static struct dh_campaign_line line;
    if (s->left_ns < 300000000u)
        dh_campaign_progress_clear(&line);
    else
        dh_campaign_progress(&line, s);
}

/* ---- verifying ---- */

static int verify(struct dh_healing *h)
{
    struct dh_err err = {0};
    if (!dh_healing_verify(h, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    print_groups(&h->draft);
    print_outcome(h);
    return dh_healing_is_complete(h) ? DH_EXIT_OK : DH_EXIT_FINDINGS;
}

/* Without findings there is nothing to be gone but what the policy could bring about. */
static int verify_sections(struct dh_healing *h)
{
    struct dh_err err = {0};
    const struct dh_heal_verified *r = &h->outcome.verified;
    if (!dh_healing_verify_sections(h, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if (r->holds)
        printf("tried: no deadlock comes of it; %s\n", r->search ? r->search : "");
    else
        printf("offered, not verified: %s\n", r->why);
    return r->holds ? DH_EXIT_OK : DH_EXIT_FINDINGS;
}

/* The diff alone goes to standard output, so that it can be kept. */
static int print_patch(const struct dh_draft *d)
{
    char *why, *diff = dh_patch_make(d, &why);
    fputs(diff, stdout);
    for (char *at = why, *line; at && (line = strsep(&at, "\n"));)
        if (*line)
            dh_notice("heal: --patch: no suggestion for %s", line);
    bool any = *diff;
    free(diff);
    free(why);
    return any ? DH_EXIT_OK : DH_EXIT_FINDINGS;
}

static int refuse(struct dh_err *err)
{
    dh_notice("heal: %s", err->text);
    dh_err_release(err);
    return DH_EXIT_USAGE;
}

static int heal(const struct dh_parsed *p, struct dh_healing *h)
{
    struct dh_err err = {0};
    if (!dh_healing_draft(h, &err))
        return refuse(&err);
    if (dh_option_given(p, "patch"))
        return print_patch(&h->draft);
    bool sections = h->job->sections, verifies = !dh_option_given(p, "no-verify");
    if (!dh_healing_write(h, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    if (sections || !verifies || !h->draft.sections.n)
        print_groups(&h->draft);
    if (!h->draft.sections.n)
        return DH_EXIT_FINDINGS;
    int code = DH_EXIT_OK;
    if (verifies)
        code = sections ? verify_sections(h) : verify(h);
    else if (!sections && !dh_healing_offer(h, &err))
        code = dh_fail(&err, DH_EXIT_FAILURE);
    const struct dh_heal_job *j = h->job;
    printf("policy: %s\n  deadheat run --heal=%s -- %s\n", j->output, j->output, j->argv[0]);
    return code;
}

/* ---- a policy by hand ---- */

static int check_policy(const struct dh_healing *h, const char *policy)
{
    struct dh_err err = {0};
    struct dh_heal_risks risks = {.at = {0}};
    struct dh_bytes b;
    if (!dh_policy_matches(policy, h->program, false, NULL, &err) || !dh_file_read(policy, &b, &err))
        return refuse(&err);
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
    struct dh_heal_job job = {.db = dh_option_get(p, "db"),
                              .output = dh_option_get(p, "-o"),
                              .means = dh_option_get(p, "means"),
                              .budget = dh_option_get(p, "budget"),
                              .sections = dh_option_get(p, "sections"),
                              .progress = progress};
    struct dh_healing h = {.job = &job};
    struct dh_err err = {0};
    int n = dh_operands(p, &job.argv);
    job.ids = job.argv;
    for (; n > 1 && is_id(job.argv[0]); n--, job.n_ids++)
        job.argv++;
    const char *schedules = dh_option_get(p, "schedules");
    if (schedules && !dh_read_count(schedules, &job.schedules)) {
        dh_notice("heal: --schedules=%s: expected a number from 1", schedules);
        return DH_EXIT_USAGE;
    }
    if (n < 1 || !dh_read_time(job.budget, &job.budget_ns)) {
        if (n < 1)
            dh_notice("heal: name a program: deadheat heal [OPTION...] [ID...] -- PROG args");
        else
            dh_notice("heal: --budget=%s: expected a time such as 10s, 500ms or 5m", job.budget);
        return DH_EXIT_USAGE;
    }
    int code = !dh_healing_open(&h, &job, &err) ? refuse(&err)
               : dh_option_given(p, "check")    ? check_policy(&h, dh_option_get(p, "check"))
                                                : heal(p, &h);
    dh_healing_release(&h);
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
    {"schedules", DH_OPTION_STRING, "N", NULL, "at most so many per search"},
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
