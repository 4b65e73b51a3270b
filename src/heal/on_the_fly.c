#include "heal/on_the_fly.h"

#include "base/str.h"
#include "heal/apply.h"
#include "heal/means.h"
#include "host/file.h"
#include "host/notice.h"
#include "host/process.h"
#include "image/container.h"
#include "launch/launch.h"

#include <stdlib.h>
#include <string.h>

static bool write_candidates(struct dh_heal_auto *a, const char *program, struct dh_err *err)
{
    struct dh_container c;
    struct dh_bytes b;
    struct dh_site_table t;
    struct dh_draft d;
    const char *why;
    if (!dh_container_open(&c, program, err))
        return false;
    bool ok = dh_container_read(&c, DH_PART_SITES, &b, err) &&
              (dh_site_table_read(&t, b.at, b.n, &why) || dh_err_set(err, "%s", why));
    if (ok) {
        dh_draft_init(&d, &t, NULL);
        unsigned left = dh_draft_candidates(&d);
        if (left)
            dh_notice("run: --heal=auto: %u variables are too many; the others are not healed", left);
        ok = dh_heal_choose(&d, program, "auto", false, err);
        char *text = ok ? dh_draft_print(&d, program) : NULL;
        ok = ok && (d.sections.n || dh_err_set(err, "%s has no variables that could be healed", program)) &&
             dh_file_write(a->candidates, text, strlen(text), 0600, err);
        free(text);
        dh_draft_release(&d);
        dh_bytes_release(&b);
    }
    dh_container_release(&c);
    return ok;
}

char *dh_heal_auto_begin(struct dh_heal_auto *a, const char *command, const char *plan, const char *program,
                         struct dh_err *err)
{
    struct dh_err why = {0};
    char *found = dh_program_find(program), *all = NULL;
    *a = (struct dh_heal_auto){.folder = dh_temp_folder(&why), .policy = DH_HEAL_AUTO_POLICY};
    if (a->folder) {
        a->candidates = dh_format("%s/candidates", a->folder);
        a->noted = dh_format("%s/healed", a->folder);
    }
    if (!found)
        dh_err_usage(err, "%s: %s: there is no such program", command, program);
    else if (a->folder && write_candidates(a, found, &why))
        all = dh_policy_apply(a->candidates, false, plan, program, &why);
    if (found && !all)
        dh_err_usage(err, "%s: --heal=auto: %s", command, why.text);
    if (all)
        dh_runtime_option_add("heal_auto", a->noted);
    dh_err_release(&why);
    free(found);
    return all;
}

/* ---- what was healed ---- */

/* The part of the candidates that is this group's: from its head to the next one's. */
static char *part_of(const char *candidates, const char *group)
{
    char *head = dh_format("\n# ---- %s:", group);
    const char *from = strstr(candidates, head), *to = from ? strstr(from + 1, "\n# ---- ") : NULL;
    char *part = from ? dh_format("%.*s", to ? (int)(to - from) : (int)strlen(from), from) : NULL;
    free(head);
    return part;
}

static char *read_text(const char *path)
{
    struct dh_bytes b;
    struct dh_err ignored = {0};
    char *text = NULL;
    if (dh_file_exists(path) && dh_file_read(path, &b, &ignored)) {
        text = dh_format("%.*s", (int)b.n, (const char *)b.at);
        dh_bytes_release(&b);
    }
    dh_err_release(&ignored);
    return text ? text : dh_strdup("");
}

static bool add_groups(const struct dh_heal_auto *a, unsigned *added, struct dh_err *err)
{
    char *candidates = read_text(a->candidates), *noted = read_text(a->noted), *old = read_text(a->policy);
    struct dh_str policy = {0};
    dh_str_add(&policy, *old ? old : "# Healed on the fly by 'deadheat run --heal=auto'. Review it.\n");
    char *rest = noted;
    for (char *group; (group = strsep(&rest, "\n"));) {
        char *part = *group ? part_of(candidates, group) : NULL;
        if (part && !strstr(policy.at, part)) {
            dh_str_add(&policy, part);
            if (policy.at[policy.n - 1] != '\n')
                dh_str_add(&policy, "\n");
            ++*added;
        }
        free(part);
    }
    bool ok = !*added ||
              (dh_mkdir_parents(".deadheat", 0755, err) && dh_file_write(a->policy, policy.at, policy.n, 0644, err));
    dh_str_release(&policy);
    free(candidates);
    free(noted);
    free(old);
    return ok;
}

bool dh_heal_auto_end(struct dh_heal_auto *a, unsigned *added, struct dh_err *err)
{
    *added = 0;
    bool ok = !a->noted || add_groups(a, added, err);
    if (a->folder)
        dh_remove_tree(a->folder);
    free(a->folder);
    free(a->candidates);
    free(a->noted);
    return ok;
}
