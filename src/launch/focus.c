#include "launch/focus.h"

#include "base/str.h"
#include "driver/site_selection.h"
#include "event/noise.h"
#include "event/sections.h"
#include "finding/store.h"
#include "finding/trained_pairs.h"
#include "host/file.h"

#include <stdlib.h>
#include <string.h>

/* ---- sites ---- */

/* NAME of a target goes up to a comma that another target follows: names of templates have commas. */
static size_t target_length(const char *at)
{
    size_t n = strcspn(at, ",");
    while (at[n] && dh_target_check(dh_starts_with(at + n + 1, "all") ? "all" : at + n + 1) &&
           strcspn(at + n + 1, ":,") == strcspn(at + n + 1, ","))
        n += 1 + strcspn(at + n + 1, ",");
    return n;
}

static bool add_sites(struct dh_str *out, const char *command, const char *list, struct dh_err *err)
{
    for (const char *at = list; at;) {
        size_t n = target_length(at);
        char *target = dh_format("%.*s", (int)n, at);
        const char *why = dh_target_check(target);
        if (why)
            dh_err_usage(err, "%s: --sites=%s: '%s': %s", command, list, target, why);
        else
            dh_str_addf(out, "sites %s\n", target);
        free(target);
        if (why)
            return false;
        at = at[n] ? at + n + 1 : NULL;
    }
    return true;
}

/* ---- noise ---- */

struct gathering {
    struct dh_str *out;
    unsigned group, n;
    bool variables; /* else lines */
};

static void add_line(struct gathering *g, const char *line)
{
    if (!g->out->at || !strstr(g->out->at, line))
        dh_str_add(g->out, line);
    g->n++;
}

static void gather(void *arg, const struct dh_finding *f)
{
    struct gathering *g = arg;
    if (g->variables && f->level == DH_LEVEL_SUSPECTED && f->variable[0]) {
        char *line = dh_format("maybe %u var:%s\n", g->group, f->variable);
        add_line(g, line);
        free(line);
    }
    for (size_t i = 0; !g->variables && i < f->accesses.n; i++) {
        const struct dh_finding_access *a = &f->accesses.at[i];
        if (!a->stack.frames.n || !a->stack.frames.at[0].file[0])
            continue;
        char *line = dh_format("maybe %u loc:%s:%u\n", g->group, dh_basename(a->stack.frames.at[0].file),
                               a->stack.frames.at[0].line);
        add_line(g, line);
        free(line);
    }
}

static bool gather_from_store(struct gathering *g, const char *command, const char *db, struct dh_err *err)
{
    struct dh_err why = {0};
    struct dh_store *store = db && dh_file_exists(db) ? dh_store_open(db, DH_STORE_READ, &why) : NULL;
    struct dh_store_choice all = {0};
    bool ok = store && dh_store_each(store, &all, gather, g, &why);
    if (store)
        dh_store_close(store);
    if (why.text)
        dh_err_usage(err, "%s: --noise: %s", command, why.text);
    else if (!g->n)
        dh_err_usage(err, "%s: --noise: %s: no %s in the store %s; expected some from an earlier run", command,
                     g->variables ? "var:@suspected" : "loc:@findings",
                     g->variables ? "suspected finding with a variable" : "finding with a line", db ? db : "(none)");
    dh_err_release(&why);
    return ok && g->n;
}

static bool add_target(struct dh_str *out, const struct dh_noise_clause *c, const char *command, const char *db,
                       struct dh_err *err)
{
    bool variable = c->kind == DH_NOISE_VARIABLE;
    struct gathering g = {.out = out, .group = c->group, .variables = variable};
    if (c->name[0] == '@')
        return gather_from_store(&g, command, db, err);
    dh_str_addf(out, "noise %u %s:%.*s\n", c->group, variable ? "var" : "loc", (int)c->n_name, c->name);
    return true;
}

/* Whether accesses are to be delayed, and whether all of them may be. */
static bool add_noise(struct dh_str *out, const struct dh_focus *f, const char *command, const char *db, bool *accesses,
                      bool *all, struct dh_err *err)
{
    struct dh_noise noise;
    struct dh_noise_error e;
    if (!f->noise)
        return true;
    if (!dh_noise_read(&noise, f->noise, &e))
        return dh_err_usage(err, "%s: --noise=%s: column %u: %s", command, f->noise, e.column, e.text);
    for (unsigned i = 0; i < noise.n; i++) {
        const struct dh_noise_clause *c = &noise.clause[i];
        bool named = c->kind == DH_NOISE_VARIABLE || c->kind == DH_NOISE_LOCATION;
        *accesses |= c->kind != DH_NOISE_SYNC;
        *all |= c->kind == DH_NOISE_RANDOM || c->kind == DH_NOISE_AUTO;
        if (named && !add_target(out, c, command, db, err))
            return false;
    }
    return true;
}

/* ---- sections ---- */

/* The error `why` as one of usage of the option. */
static bool refuse(struct dh_err *err, const char *command, const char *option, struct dh_err *why)
{
    dh_err_usage(err, "%s: --%s: %s", command, option, why->text);
    dh_err_release(why);
    return false;
}

static bool add_sections(struct dh_str *out, const char *command, const char *path, struct dh_err *err)
{
    struct dh_bytes b;
    struct dh_sections s;
    struct dh_sections_error e;
    struct dh_err why = {0};
    if (!path)
        return true;
    if (!dh_file_read(path, &b, &why))
        return refuse(err, command, "sections", &why);
    bool ok = dh_sections_read(&s, (const char *)b.at, b.n, malloc, &e);
    if (!ok)
        dh_err_usage(err, "%s: --sections: %s:%u:%u: %s", command, path, e.line, e.column, e.text);
    else {
        dh_str_addf(out, "sections %zu\n", b.n);
        dh_str_add_n(out, (const char *)b.at, b.n);
    }
    dh_bytes_release(&b);
    return ok;
}

/* ---- all of it ---- */

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || !at[n]))
            return true;
    return false;
}

static bool check_seed(const struct dh_focus *f, const char *command, struct dh_err *err)
{
    if (!f->seed || (*f->seed && strspn(f->seed, "0123456789") == strlen(f->seed) && strlen(f->seed) <= 9))
        return true;
    return dh_err_usage(err, "%s: --seed=%s: expected a number of at most nine digits", command, f->seed);
}

static bool check_train(const struct dh_focus *f, const char *command, struct dh_err *err)
{
    struct dh_trained_pairs t;
    struct dh_err why = {0};
    if (!f->train)
        return true;
    bool ok = dh_trained_pairs_read(&t, f->train, &why) || refuse(err, command, "train", &why);
    dh_trained_pairs_release(&t);
    return ok;
}

static bool check_use(const struct dh_focus *f, const char *command, bool atomrace, struct dh_err *err)
{
    const char *option = f->sites ? "sites" : f->sections ? "sections" : f->train ? "train" : NULL;
    return !option || atomrace || dh_err_usage(err, "%s: --%s is for atomrace; add it to --detect", command, option);
}

/* "race,atomrace" with the selection in it. */
static bool name_plan(struct dh_focus *f, const char *plan, const struct dh_str *text, struct dh_err *err)
{
    char *name = NULL;
    if (!dh_selection_store(text->at, text->n, &name, &f->selection, err)) {
        err->is_usage = true;
        return false;
    }
    const char *at = strstr(plan, "atomrace");
    f->plan = at ? dh_format("%.*satomrace@%s%s", (int)(at - plan), plan, name, at + strlen("atomrace"))
                 : dh_format("%s,atomrace@%s", plan, name);
    free(name);
    return true;
}

bool dh_focus_prepare(struct dh_focus *f, const char *command, const char *detect, const char *plan, const char *db,
                      struct dh_err *err)
{
    bool atomrace = has_word(detect, "atomrace"), accesses = false, all = false;
    struct dh_str text = {0};
    bool ok = check_seed(f, command, err) && check_train(f, command, err) && check_use(f, command, atomrace, err) &&
              add_noise(&text, f, command, db, &accesses, &all, err);
    if (ok && f->sites)
        ok = add_sites(&text, command, f->sites, err);
    else if (ok && (atomrace || all))
        dh_str_add(&text, "sites all\n");
    ok = ok && add_sections(&text, command, f->sections, err);
    bool plain = !text.at || strcmp(text.at, "sites all\n") == 0;
    if (ok && (atomrace || accesses) && !plain)
        ok = name_plan(f, plan, &text, err);
    else if (ok)
        f->plan =
            (atomrace || accesses) && !has_word(plan, "atomrace") ? dh_format("%s,atomrace", plan) : dh_strdup(plan);
    dh_str_release(&text);
    return ok;
}

void dh_focus_options(const struct dh_focus *f, void (*add)(const char *key, const char *value))
{
    if (f->selection)
        add("selection", f->selection);
    if (f->noise)
        add("noise", f->noise);
    if (f->seed)
        add("seed", f->seed);
    if (f->train) {
        add("train", "1");
        add("exitcode", "0"); /* whether the run passed is the program's to say */
    }
}

void dh_focus_release(struct dh_focus *f)
{
    free(f->plan);
    free(f->selection);
    f->plan = f->selection = NULL;
}
