#include "heal/apply.h"

#include "base/str.h"
#include "driver/policy_plan.h"
#include "heal/safety.h"
#include "host/cache.h"
#include "host/file.h"
#include "host/notice.h"
#include "host/process.h"
#include "image/container.h"

#include <stdlib.h>
#include <string.h>

static void note(const char *line)
{
    dh_notice("%s", line);
}

/* Checked once for each program and policy: the answer, with the notices that every run gives, is kept beside the
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

static const char prefix[] = "deadheat: "; /* of lines in the file */

static void note_lines(char *lines)
{
    for (char *line; (line = strsep(&lines, "\n"));)
        if (*line)
            dh_notice("%s", line + (dh_starts_with(line, prefix) ? sizeof prefix - 1 : 0));
}

static void note_known(const char *mark)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    if (dh_file_read(mark, &b, &ignored)) {
        char *text = dh_format("%.*s", (int)b.n, (const char *)b.at);
        note_lines(text);
        free(text);
        dh_bytes_release(&b);
    }
    dh_err_release(&ignored);
}

/* A line for each access that no lock keeps out. */
static char *holes(const char *policy, const struct dh_heal_risks *risks)
{
    struct dh_str text = {0};
    for (size_t i = 0; i < risks->at.n; i++) {
        const struct dh_heal_risk *r = &risks->at.at[i];
        if (r->kind != DH_RISK_OUTSIDE)
            continue;
        char *line = dh_format("%s%s: group %s: %s, and is not kept out\n", prefix, policy, r->group, r->text);
        dh_str_add(&text, line);
        free(line);
    }
    return text.at ? text.at : dh_strdup("");
}

/* A program that could hang is not run; what is not kept out is a notice. What could only make it slow is reported by
 * 'deadheat heal --check'. */
static bool is_without_circle(const char *policy, const char *program, const char *plan, struct dh_err *err)
{
    struct dh_heal_risks risks = {.at = {0}};
    struct dh_bytes b;
    char *mark;
    if (is_known_safe(program, plan, &mark)) {
        note_known(mark);
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
    if (ok && mark)
        dh_file_write(mark, said, strlen(said), 0600, &ignored);
    if (ok)
        note_lines(said);
    free(said);
    dh_err_release(&ignored);
    dh_heal_risks_release(&risks);
    free(mark);
    return ok;
}

char *dh_policy_apply(const char *policy, bool partly, const char *plan, const char *program, struct dh_err *err)
{
    char *heals = NULL, *found = dh_program_find(program), *all = NULL;
    bool present = found && dh_container_present(found);
    if ((!present || dh_policy_matches(policy, found, partly, note, err)) && dh_policy_keep(policy, &heals, err) &&
        (!present || is_without_circle(policy, found, heals, err)))
        all = strcmp(plan, "none") == 0 ? dh_strdup(heals) : dh_format("%s,%s", plan, heals);
    free(heals);
    free(found);
    return all;
}
