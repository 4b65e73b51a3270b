#include "cmd/heal_verify.h"

#include "base/str.h"
#include "cmd/command.h"
#include "cmd/heal_trial.h"
#include "finding/store.h"
#include "host/file.h"
#include "host/process.h"
#include "host/resources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void fail(struct dh_heal_verified *out, char *why)
{
    if (!out->why)
        out->why = why;
    else
        free(why);
}

/* Runs this tool with the words; its exit code, or -1. */
static int run_self(struct dh_argv *words, struct dh_str *output, struct dh_err *err)
{
    struct dh_argv all = {0};
    char *self = dh_resource_self(err);
    int status = 0, code = -1;
    if (self) {
        dh_argv_add(&all, self);
        dh_argv_add_all(&all, words->at, words->n);
        if (dh_process_run(&all, output, &status, err))
            code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    free(self);
    dh_argv_release(&all);
    return code;
}

static void add_program(struct dh_argv *a, char **argv)
{
    dh_argv_add(a, "--");
    for (; *argv; argv++)
        dh_argv_add(a, *argv);
}

/* ---- witnesses ---- */

static bool replay(const struct dh_heal_verifying *v, const struct dh_finding *f, struct dh_heal_verified *out,
                   struct dh_err *err)
{
    struct dh_argv a = {0};
    struct dh_str output = {0};
    dh_argv_add(&a, "replay");
    dh_argv_addf(&a, "--heal=%s", v->policy);
    dh_argv_add(&a, f->witness);
    dh_argv_add(&a, "--");
    dh_argv_add(&a, v->argv[0]);
    int code = run_self(&a, &output, err);
    if (code == DH_EXIT_OK)
        fail(out, dh_format("the witness of %.8s comes to its end under the policy", f->id));
    else if (code == DH_EXIT_FINDINGS)
        out->witnesses++;
    else if (code >= 0)
        fail(out, dh_format("the witness of %.8s cannot be replayed", f->id));
    dh_argv_release(&a);
    dh_str_release(&output);
    return code >= 0;
}

/* ---- the search ---- */

struct judging {
    const struct dh_heal_verifying *v;
    struct dh_heal_verified *out;
};

static void judge(void *arg, const struct dh_finding *f)
{
    struct judging *j = arg;
    bool known = false;
    for (size_t i = 0; i < j->v->n; i++)
        known |= strcmp(j->v->findings[i]->id, f->id) == 0;
    if (strcmp(f->level, "proven") != 0)
        return;
    if (known)
        fail(j->out, dh_format("%.8s can still be proven", f->id));
    else if (strcmp(f->kind, "deadlock") == 0)
        fail(j->out, dh_format("a deadlock that was not there can be proven: deadheat prove --explore --heal=%s",
                               j->v->policy));
}

static bool judge_store(const char *db, struct judging *j, struct dh_err *err)
{
    struct dh_store_choice all = {0};
    if (!dh_file_exists(db))
        return true;
    struct dh_store *store = dh_store_open(db, DH_STORE_READ, err);
    bool ok = store && dh_store_each(store, &all, judge, j, err);
    dh_store_close(store);
    return ok;
}

static char *last_line(const char *text)
{
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n')
        n--;
    size_t from = n;
    while (from && text[from - 1] != '\n')
        from--;
    return dh_format("%.*s", (int)(n - from), text + from);
}

/* A store in which what is healed is still to be proven: the goals of the search. */
static bool set_goals(const struct dh_heal_verifying *v, const char *db, struct dh_err *err)
{
    struct dh_store *store = dh_store_open(db, DH_STORE_WRITE, err);
    struct dh_store_run run = {v->argv[0], "", 0};
    long long id;
    bool ok = store && dh_store_begin(store, &run, &id, err);
    for (size_t i = 0; ok && i < v->n; i++) {
        struct dh_finding open = *v->findings[i];
        open.level = (char *)"observed";
        open.witness = (char *)"";
        ok = dh_store_add(store, id, &open, err);
    }
    ok = ok && dh_store_commit(store, err);
    dh_store_close(store);
    return ok;
}

/* For the goals, or for everything. */
static bool search(const struct dh_heal_verifying *v, const char *folder, bool goals, struct dh_heal_verified *out,
                   struct dh_err *err)
{
    struct dh_argv a = {0};
    struct dh_str output = {0};
    char *db = dh_format("%s/%s.db", folder, goals ? "goals" : "healed");
    if (goals && !set_goals(v, db, err)) {
        free(db);
        return false;
    }
    dh_argv_add(&a, "prove");
    if (!goals)
        dh_argv_add(&a, "--explore");
    dh_argv_addf(&a, "--budget=%s", v->budget);
    dh_argv_addf(&a, "--db=%s", db);
    dh_argv_addf(&a, "--heal=%s", v->policy);
    add_program(&a, v->argv);
    int code = run_self(&a, &output, err);
    struct judging j = {v, out};
    bool ok = code >= 0 && judge_store(db, &j, err);
    free(out->search);
    out->search = last_line(output.at ? output.at : "");
    /* Not one schedule within the budget says as little as none at all. */
    bool none = (code != DH_EXIT_OK && code != DH_EXIT_FINDINGS) || strstr(out->search, " 0 schedules in");
    out->unsearched |= ok && none;
    dh_argv_release(&a);
    dh_str_release(&output);
    free(db);
    return ok;
}

/* What the engine cannot explore can still be run. */
static bool try_runs(const struct dh_heal_verifying *v, const char *folder, struct dh_heal_verified *out,
                     struct dh_err *err)
{
    struct dh_heal_trial t;
    char *db = dh_format("%s/goals.db", folder);
    bool ok = dh_heal_try_runs(v, db, &t, err);
    free(db);
    if (!ok)
        return false;
    char *words = dh_format("it cannot be searched; of %u runs under noise %u fail without the policy and %u with it",
                            t.runs, t.before, t.after);
    free(out->search);
    out->search = NULL;
    if (dh_heal_trial_holds(&t))
        out->search = words;
    else
        fail(out, words);
    return true;
}

bool dh_heal_verify(const struct dh_heal_verifying *v, struct dh_heal_verified *out, struct dh_err *err)
{
    *out = (struct dh_heal_verified){0};
    char *folder = dh_temp_folder(err);
    bool ok = folder;
    for (size_t i = 0; ok && i < v->n; i++)
        if (v->findings[i]->witness[0] && dh_file_exists(v->findings[i]->witness))
            ok = replay(v, v->findings[i], out, err);
    ok = ok && (!v->n || search(v, folder, true, out, err)) &&
         (out->why || out->unsearched || search(v, folder, false, out, err));
    if (ok && out->unsearched && !out->why && v->n)
        ok = try_runs(v, folder, out, err);
    else if (ok && out->unsearched)
        fail(out, dh_strdup("the program cannot be searched"));
    out->holds = ok && !out->why;
    if (folder)
        dh_remove_tree(folder);
    free(folder);
    return ok;
}

void dh_heal_verified_release(struct dh_heal_verified *r)
{
    free(r->why);
    free(r->search);
}
