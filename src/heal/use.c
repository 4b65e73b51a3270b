#include "heal/use.h"

#include "base/str.h"
#include "driver/policy_plan.h"
#include "heal/safety.h"
#include "host/cache.h"
#include "host/file.h"
#include "host/process.h"
#include "image/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(const char *line)
{
    dh_complain("%s", line);
}

/* Looked into once for each program and policy: the answer, with what is to be said each time, is kept beside the
 * policy. */
static bool is_known_safe(const char *program, const char *plan, char **mark)
{
    struct dh_container c;
    struct dh_err ignored = {0};
    char id[33], *cache = dh_cache_folder(&ignored);
    *mark = NULL;
    if (cache && dh_container_open(&c, program, &ignored)) {
        dh_id_text(&c.id, id);
        *mark = dh_format("%s/safe-%s-%s", cache, strchr(plan, '@') + 1, id);
        dh_container_release(&c);
    }
    dh_err_release(&ignored);
    free(cache);
    return *mark && dh_file_exists(*mark);
}

static void tell_known(const char *mark)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    if (dh_file_read(mark, &b, &ignored)) {
        if (b.n)
            fprintf(stderr, "%.*s", (int)b.n, (const char *)b.at);
        dh_bytes_release(&b);
    }
    dh_err_release(&ignored);
}

/* What a lock cannot keep out is known to whoever relies on it. */
static char *holes(const char *policy, const struct dh_heal_risks *risks)
{
    struct dh_str text = {0};
    for (size_t i = 0; i < risks->at.n; i++) {
        const struct dh_heal_risk *r = &risks->at.at[i];
        if (r->kind != DH_RISK_OUTSIDE)
            continue;
        char *line = dh_format("deadheat: %s: group %s: %s, and is not kept out\n", policy, r->group, r->text);
        dh_str_add(&text, line);
        free(line);
    }
    return text.at ? text.at : dh_strdup("");
}

/* What could hang is not run; what is not kept out is said. What could only make it slow is told by 'deadheat heal
 * --check'. */
static bool is_without_circle(const char *policy, const char *program, const char *plan, struct dh_err *err)
{
    struct dh_heal_risks risks = {.at = {0}};
    struct dh_bytes b;
    char *mark;
    if (is_known_safe(program, plan, &mark)) {
        tell_known(mark);
        free(mark);
        return true;
    }
    bool ok = dh_file_read(policy, &b, err);
    if (ok) {
        ok = dh_heal_safety(program, (const char *)b.at, b.n, &risks, err);
        dh_bytes_release(&b);
    }
    for (size_t i = 0; ok && i < risks.at.n; i++)
        if (risks.at.at[i].kind == DH_RISK_CYCLE)
            ok = dh_err_set(err, "%s: group %s: %s", policy, risks.at.at[i].group, risks.at.at[i].text);
    struct dh_err ignored = {0};
    char *said = holes(policy, &risks);
    if (ok)
        fputs(said, stderr);
    if (ok && mark)
        dh_file_write(mark, said, strlen(said), 0600, &ignored);
    free(said);
    dh_err_release(&ignored);
    dh_heal_risks_release(&risks);
    free(mark);
    return ok;
}

char *dh_heal_plan_of(const char *policy, bool partly, const char *command, const char *plan, const char *program)
{
    struct dh_err err = {0};
    char *heals = NULL, *found = dh_program_find(program), *all = NULL;
    /* A script's programs are met when they start; what does not match there heals nothing. */
    bool present = found && dh_container_present(found);
    if ((!present || dh_policy_matches(policy, found, partly, tell, &err)) && dh_policy_keep(policy, &heals, &err) &&
        (!present || is_without_circle(policy, found, heals, &err)))
        all = strcmp(plan, "none") == 0 ? dh_strdup(heals) : dh_format("%s,%s", plan, heals);
    else
        dh_complain("%s: --heal: %s", command, err.text);
    dh_err_release(&err);
    free(heals);
    free(found);
    return all;
}

char *dh_heal_plan(const struct dh_parsed *p, const char *command, const char *plan, const char *program)
{
    const char *policy = dh_option_get(p, "heal");
    if (!policy)
        return dh_strdup(plan);
    return dh_heal_plan_of(policy, dh_option_given(p, "partly"), command, plan, program);
}
