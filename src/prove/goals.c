#include "prove/goals.h"

#include "finding/details.h"
#include "host/file.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct reading {
    struct dh_goals *goals;
    const struct dh_goals_wanted *wanted;
    unsigned proven;
};

static void take(void *arg, const struct dh_finding *f)
{
    struct reading *r = arg;
    bool ours = strcmp(f->build, r->wanted->build) == 0 || strcmp(f->program, r->wanted->program) == 0;
    bool proven = f->level == DH_LEVEL_PROVEN;
    if (!ours && !r->wanted->id)
        return;
    if (proven && !r->wanted->id) {
        r->proven++;
        return;
    }
    struct dh_finding *copy = dh_finding_copy(f);
    struct dh_goal g = {.finding = copy, .why = dh_strdup("")};
    dh_vec_push(&r->goals->findings, copy);
    dh_vec_push(&r->goals->goals, g);
}

bool dh_goals_read(struct dh_goals *g, const struct dh_goals_wanted *w, unsigned *proven, struct dh_err *err)
{
    struct reading r = {.goals = g, .wanted = w};
    struct dh_store_choice choice = {.id = w->id, .run = w->run};
    *g = (struct dh_goals){0};
    *proven = 0;
    if (!dh_file_exists(w->db))
        return true;
    struct dh_store *s = dh_store_open(w->db, DH_STORE_READ, err);
    bool ok = s && dh_store_each(s, &choice, take, &r, err);
    dh_store_close(s);
    *proven = r.proven;
    return ok;
}

void dh_goals_release(struct dh_goals *g)
{
    for (size_t i = 0; i < g->findings.n; i++) {
        dh_finding_release(g->findings.at[i]);
        free(g->findings.at[i]);
        free(g->goals.at[i].why);
    }
    dh_vec_release(&g->findings);
    dh_vec_release(&g->goals);
}

static bool store(const struct dh_finding *f, const struct dh_subject *s, const char *db, struct dh_err *err)
{
    char *arguments = dh_store_arguments(s->start.argv);
    struct dh_store_run run = {s->program, arguments, (long long)time(NULL)};
    bool ok = dh_store_put(db, &run, f, err);
    free(arguments);
    return ok;
}

bool dh_proof_keep(const struct dh_proof *p, const struct dh_subject *s, const char *db, const char *folder,
                   char **path, struct dh_err *err)
{
    char *near = dh_format("%s/%s" DH_WITNESS_SUFFIX, folder, p->finding->id);
    *path = dh_path_absolute(near);
    free(near);
    if (!dh_mkdir_parents(folder, 0755, err) || !dh_witness_write(p->witness, *path, err))
        return false;
    struct dh_finding *f = dh_finding_copy(p->finding);
    f->level = DH_LEVEL_PROVEN;
    dh_finding_set(&f->detector, "prove");
    dh_finding_set(&f->witness, *path);
    dh_finding_set(&f->program, s->program);
    f->last_seen = (long long)time(NULL);
    bool ok = store(f, s, db, err);
    dh_finding_release(f);
    free(f);
    return ok;
}

bool dh_observed_keep(const struct dh_finding *f, const struct dh_subject *s, const char *db, struct dh_err *err)
{
    return store(f, s, db, err);
}

char *dh_witness_folder(const char *db)
{
    return dh_format("%.*switnesses", (int)(dh_basename(db) - db), db);
}
