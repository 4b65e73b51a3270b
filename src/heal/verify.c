#include "heal/verify.h"

#include "base/str.h"
#include "cmd/command.h"
#include "finding/store.h"
#include "heal/trial.h"
#include "host/file.h"
#include "host/process.h"
#include "host/resources.h"

#include <jansson.h>
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

static void refute(struct dh_heal_verified *out, size_t finding, bool directly, char *why)
{
    struct dh_heal_refuted *r = &out->refuted[finding];
    r->directly |= directly;
    if (!r->why)
        r->why = why;
    else
        free(why);
}

static size_t count_refuted(struct dh_heal_verified *out)
{
    out->n_refuted = 0;
    for (size_t i = 0; i < out->n; i++)
        out->n_refuted += out->refuted[i].why != NULL;
    return out->n_refuted;
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

static bool replay(const struct dh_heal_verifying *v, size_t finding, const char *witness, const char *whose,
                   struct dh_heal_verified *out, struct dh_err *err)
{
    const struct dh_finding *f = v->findings[finding];
    struct dh_argv a = {0};
    struct dh_str output = {0};
    dh_argv_add(&a, "replay");
    dh_argv_add(&a, "--quiet");
    dh_argv_addf(&a, "--heal=%s", v->policy);
    dh_argv_add(&a, witness);
    dh_argv_add(&a, "--");
    dh_argv_add(&a, v->argv[0]);
    int code = run_self(&a, &output, err);
    if (code == DH_EXIT_OK)
        refute(out, finding, true, dh_format("%s of %.8s comes to its end under the policy", whose, f->id));
    else if (code == DH_EXIT_FINDINGS)
        out->witnesses++;
    else if (code >= 0)
        refute(out, finding, false, dh_format("%s of %.8s cannot be replayed", whose, f->id));
    dh_argv_release(&a);
    dh_str_release(&output);
    return code >= 0;
}

/* Of a race, the run that shows its harm: that two accesses are kept apart does not put them into the right order. */
static char *failing_run(const struct dh_finding *f)
{
    json_t *o = json_loads(f->classification, 0, NULL);
    const char *path = json_string_value(json_object_get(o, "witness"));
    bool other = path && *path && strcmp(path, f->witness) != 0 && strcmp(f->verdict, "destructive") == 0;
    char *copy = other && dh_file_exists(path) ? dh_strdup(path) : NULL;
    json_decref(o);
    return copy;
}

/* ---- the search ---- */

struct judging {
    const struct dh_heal_verifying *v;
    struct dh_heal_verified *out;
};

static bool may_do_harm(const struct dh_finding *f)
{
    return strcmp(f->verdict, "qos") != 0 && strcmp(f->verdict, "no-failure") != 0;
}

static bool is_failure(const struct dh_finding *f)
{
    return strcmp(f->kind, "crash") == 0 || strcmp(f->kind, "assertion") == 0 || strcmp(f->kind, "use-after-free") == 0;
}

static bool share_a_place(const struct dh_finding *a, const struct dh_finding *b)
{
    for (size_t i = 0; i < a->accesses.n; i++)
        for (size_t k = 0; k < b->accesses.n; k++) {
            const struct dh_finding_stack *one = &a->accesses.at[i].stack, *other = &b->accesses.at[k].stack;
            if (one->frames.n && other->frames.n && one->frames.at[0].line == other->frames.at[0].line &&
                strcmp(one->frames.at[0].function, other->frames.at[0].function) == 0)
                return true;
        }
    return false;
}

/* What fails under the policy fails because of what it is to heal if it is about the same, or if nothing else is known
 * that could. */
static void blame(struct judging *j, const struct dh_finding *failure)
{
    for (size_t i = 0; i < j->v->n; i++) {
        const struct dh_finding *f = j->v->findings[i];
        bool same = (failure->variable[0] && strcmp(f->variable, failure->variable) == 0) || share_a_place(f, failure);
        if (same || (j->v->complete && may_do_harm(f)))
            refute(j->out, i, same,
                   dh_format("the program still fails under the policy (%s%s%s)", failure->kind,
                             failure->text[0] ? ": " : "", failure->text));
    }
}

/* Failures that are among the findings tell of the others, too. */
static void blame_failures(const struct dh_heal_verifying *v, struct dh_heal_verified *out)
{
    struct judging j = {v, out};
    for (size_t i = 0; i < v->n; i++)
        if (out->refuted[i].directly && is_failure(v->findings[i]))
            blame(&j, v->findings[i]);
}

static void judge(void *arg, const struct dh_finding *f)
{
    struct judging *j = arg;
    if (strcmp(f->level, "proven") != 0)
        return;
    for (size_t i = 0; i < j->v->n; i++)
        if (strcmp(j->v->findings[i]->id, f->id) == 0) {
            refute(j->out, i, true, dh_format("%.8s can still be proven", f->id));
            if (is_failure(f))
                blame(j, f);
            return;
        }
    if (is_failure(f))
        blame(j, f);
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

enum goal { GOALS, EVERYTHING, WRONG_ENDS };

static bool search(const struct dh_heal_verifying *v, const char *folder, enum goal goal, struct dh_heal_verified *out,
                   struct dh_err *err)
{
    static const char *const ways[] = {NULL, "--explore", "--wrong-ends"};
    static const char *const names[] = {"goals", "healed", "ends"};
    struct dh_argv a = {0};
    struct dh_str output = {0};
    char *db = dh_format("%s/%s.db", folder, names[goal]);
    if (goal == GOALS && !set_goals(v, db, err)) {
        free(db);
        return false;
    }
    dh_argv_add(&a, "prove");
    if (goal != GOALS)
        dh_argv_add(&a, ways[goal]);
    if (goal == WRONG_ENDS)
        dh_argv_add(&a, "--first");
    dh_argv_addf(&a, "--budget=%s", v->budget);
    dh_argv_addf(&a, "--db=%s", db);
    dh_argv_addf(&a, "--heal=%s", v->policy);
    add_program(&a, v->argv);
    int code = run_self(&a, &output, err);
    struct judging j = {v, out};
    bool ok = code >= 0 && judge_store(db, &j, err);
    if (goal != WRONG_ENDS) { /* which not every program can be searched for */
        free(out->search);
        out->search = last_line(output.at ? output.at : "");
        /* Not one schedule within the budget says as little as none at all. */
        bool none = (code != DH_EXIT_OK && code != DH_EXIT_FINDINGS) || strstr(out->search, " 0 schedules in");
        out->unsearched |= ok && none;
    }
    dh_argv_release(&a);
    dh_str_release(&output);
    free(db);
    return ok;
}

/* First for what is healed, then for what should not be there; a wrong result is no end that stands out by itself. */
static bool search_all(const struct dh_heal_verifying *v, const char *folder, struct dh_heal_verified *out,
                       struct dh_err *err)
{
    bool harm = false;
    for (size_t i = 0; i < v->n; i++)
        harm |= may_do_harm(v->findings[i]);
    return (!v->n || search(v, folder, GOALS, out, err)) &&
           (out->why || out->unsearched || search(v, folder, EVERYTHING, out, err)) &&
           (out->why || out->unsearched || !harm || !v->complete || search(v, folder, WRONG_ENDS, out, err));
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

static bool replay_all(const struct dh_heal_verifying *v, struct dh_heal_verified *out, struct dh_err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < v->n; i++) {
        const struct dh_finding *f = v->findings[i];
        char *failing = failing_run(f);
        if (f->witness[0] && dh_file_exists(f->witness))
            ok = replay(v, i, f->witness, "the witness", out, err);
        if (ok && failing)
            ok = replay(v, i, failing, "the failing run", out, err);
        free(failing);
    }
    blame_failures(v, out);
    return ok;
}

bool dh_heal_verify(const struct dh_heal_verifying *v, struct dh_heal_verified *out, struct dh_err *err)
{
    *out = (struct dh_heal_verified){0};
    char *folder = dh_temp_folder(err);
    bool ok = folder;
    out->n = v->n;
    out->refuted = calloc(v->n + 1, sizeof *out->refuted);
    if (!out->refuted)
        abort();
    ok = ok && replay_all(v, out, err) && ((v->hasty && count_refuted(out)) || search_all(v, folder, out, err));
    if (ok && out->unsearched && !out->why && v->n)
        ok = try_runs(v, folder, out, err);
    else if (ok && out->unsearched)
        fail(out, dh_strdup("the program cannot be searched"));
    out->holds = ok && !out->why;
    out->holds &= !count_refuted(out);
    if (folder)
        dh_remove_tree(folder);
    free(folder);
    return ok;
}

void dh_heal_verified_release(struct dh_heal_verified *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->refuted[i].why);
    free(r->refuted);
    free(r->why);
    free(r->search);
}
