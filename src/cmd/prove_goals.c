#include "cmd/prove_goals.h"

#include "finding/details.h"
#include "host/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct reading {
    struct dh_goals *goals;
    const struct dh_goals_wanted *wanted;
    unsigned proven;
};

struct dh_finding *dh_goals_copy(const struct dh_finding *f)
{
    struct dh_finding *copy = calloc(1, sizeof *copy);
    char *details = dh_details_write(f);
    if (!copy)
        abort();
    dh_details_read(details, copy);
    free(details);
    char **to[] = {&copy->id, &copy->kind, &copy->detector, &copy->level, &copy->verdict, &copy->healing, &copy->build};
    char *const from[] = {f->id, f->kind, f->detector, f->level, f->verdict, f->healing, f->build};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        dh_finding_set(to[i], from[i]);
    dh_finding_set(&copy->classification, f->classification);
    copy->first_seen = f->first_seen;
    copy->last_seen = f->last_seen;
    return copy;
}

static void take(void *arg, const struct dh_finding *f)
{
    struct reading *r = arg;
    bool ours = strcmp(f->build, r->wanted->build) == 0 || strcmp(f->program, r->wanted->program) == 0;
    bool proven = strcmp(f->level, "proven") == 0;
    if (!ours && !r->wanted->id)
        return;
    if (proven && !r->wanted->id) {
        r->proven++;
        return;
    }
    struct dh_finding *copy = dh_goals_copy(f);
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

static char *arguments_of(char **argv)
{
    struct dh_str s = {0};
    for (int i = 1; argv[i]; i++)
        dh_str_addf(&s, "%s%s", i > 1 ? " " : "", argv[i]);
    return dh_str_take(&s);
}

static bool store(const struct dh_finding *f, const struct dh_subject *s, const char *db, struct dh_err *err)
{
    struct dh_store *to = dh_store_open(db, DH_STORE_WRITE, err);
    char *arguments = arguments_of(s->start.argv);
    struct dh_store_run run = {s->program, arguments, (long long)time(NULL)};
    long long id;
    bool ok = to && dh_store_begin(to, &run, &id, err) && dh_store_add(to, id, f, err) && dh_store_commit(to, err);
    dh_store_close(to);
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
    struct dh_finding *f = dh_goals_copy(p->finding);
    dh_finding_set(&f->level, "proven");
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

/* ---- what all that search are told ---- */

bool dh_read_time(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ms", 1e6}, {"s", 1e9}, {"", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && isdigit((unsigned char)text[0]) && strcmp(end, units[i].unit) == 0 &&
            value * units[i].ns < 1e18) {
            *ns = (uint64_t)(value * units[i].ns);
            return *ns > 0;
        }
    return false;
}

bool dh_read_count(const char *text, uint64_t *n)
{
    char *end;
    *n = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && !*end && *n > 0;
}

char *dh_witness_folder(const char *db)
{
    return dh_format("%.*switnesses", (int)(dh_basename(db) - db), db);
}
