#include "heal/failures.h"

#include "base/str.h"
#include "event/heal.h"
#include "finding/store.h"
#include "host/file.h"
#include "host/process.h"
#include "image/container.h"
#include "launch/launch.h"

#include <stdlib.h>
#include <string.h>

void dh_heal_failures_begin(struct dh_heal_failures *w)
{
    struct dh_err ignored = {0};
    *w = (struct dh_heal_failures){.folder = dh_temp_folder(&ignored)};
    dh_err_release(&ignored);
    if (!w->folder)
        return;
    w->failures = dh_format("%s/given-up", w->folder);
    dh_runtime_option_add("heal_failures", w->failures);
}

/* The build that the policy was in force for. */
static bool build_of(const char *program, char id[33], struct dh_err *err)
{
    struct dh_container c;
    char *found = dh_program_find(program);
    bool ok = found && dh_container_open(&c, found, err);
    free(found);
    if (!ok)
        return false;
    dh_id_text(&c.id, id);
    dh_container_release(&c);
    return true;
}

static bool mark_findings(struct dh_store *s, const struct dh_heal_policy *p, const char *groups, const char *build,
                          struct dh_err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->file.n_heals; i++) {
        const struct dh_heal *h = &p->file.heals[i];
        char *line = dh_format("\n%s\n", p->groups[p->group_of[h->section]].name);
        bool marked = false;
        for (uint32_t k = 0; k < i; k++)
            marked |= h->because && p->file.heals[k].because && !strcmp(p->file.heals[k].because, h->because);
        if (h->because && !marked && strstr(groups, line))
            ok = dh_store_heal_failed(s, h->because, build, err);
        free(line);
    }
    return ok;
}

static bool store(const char *groups, const char *policy, const char *db, const char *program, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_heal_policy p;
    struct dh_sections_error e;
    struct dh_store_run run = {program, "", 0};
    long long id;
    char build[33];
    if (!build_of(program, build, err) || !dh_file_read(policy, &b, err))
        return false;
    bool ok = dh_heal_read(&p, (const char *)b.at, b.n, malloc, &e) || dh_err_set(err, "%s: %s", policy, e.text);
    struct dh_store *s = ok ? dh_store_open(db, DH_STORE_WRITE, err) : NULL;
    ok = s && dh_store_begin(s, &run, &id, err) && mark_findings(s, &p, groups, build, err) && dh_store_commit(s, err);
    dh_store_close(s);
    dh_bytes_release(&b);
    return ok;
}

bool dh_heal_failures_store(struct dh_heal_failures *w, const char *policy, const char *db, const char *program,
                            struct dh_err *err)
{
    struct dh_bytes b;
    bool ok = true;
    if (w->failures && dh_file_exists(w->failures) && (ok = dh_file_read(w->failures, &b, err))) {
        char *groups = dh_format("\n%.*s", (int)b.n, (const char *)b.at);
        ok = store(groups, policy, db, program, err);
        free(groups);
        dh_bytes_release(&b);
    }
    if (w->folder)
        dh_remove_tree(w->folder);
    free(w->folder);
    free(w->failures);
    return ok;
}
