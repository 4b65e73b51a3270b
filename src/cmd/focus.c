#include "cmd/focus.h"

#include "base/str.h"
#include "driver/site_selection.h"
#include "event/noise.h"
#include "event/sections.h"
#include "finding/store.h"
#include "finding/trained_pairs.h"
#include "host/file.h"

#include <stdlib.h>
#include <string.h>

void dh_focus_read(struct dh_focus *f, const struct dh_parsed *p)
{
    *f = (struct dh_focus){
        .sites = dh_option_get(p, "sites"),
        .sections = dh_option_get(p, "sections"),
        .noise = dh_option_get(p, "noise"),
        .seed = dh_option_get(p, "seed"),
        .train = dh_option_get(p, "train"),
    };
}

/* ---- sites ---- */

/* NAME of a target goes up to a comma behind which another target begins: names of templates have commas. */
static size_t target_length(const char *at)
{
    size_t n = strcspn(at, ",");
    while (at[n] && dh_target_check(dh_starts_with(at + n + 1, "all") ? "all" : at + n + 1) &&
           strcspn(at + n + 1, ":,") == strcspn(at + n + 1, ","))
        n += 1 + strcspn(at + n + 1, ",");
    return n;
}

static bool add_sites(struct dh_str *out, const char *command, const char *list)
{
    for (const char *at = list; at;) {
        size_t n = target_length(at);
        char *target = dh_format("%.*s", (int)n, at);
        const char *why = dh_target_check(target);
        if (why)
            dh_complain("%s: --sites=%s: '%s': %s", command, list, target, why);
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
    if (g->variables && strcmp(f->level, "suspected") == 0 && f->variable[0]) {
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

static bool gather_from_store(struct gathering *g, const char *command, const char *db)
{
    struct dh_err err = {0};
    struct dh_store *store = db && dh_file_exists(db) ? dh_store_open(db, DH_STORE_READ, &err) : NULL;
    struct dh_store_choice all = {0};
    bool ok = store && dh_store_each(store, &all, gather, g, &err);
    if (store)
        dh_store_close(store);
    if (err.text)
        dh_complain("%s: --noise: %s", command, err.text);
    else if (!g->n)
        dh_complain("%s: --noise: %s: no %s in the store %s; expected some from an earlier run", command,
                    g->variables ? "var:@suspected" : "loc:@findings",
                    g->variables ? "suspected finding with a variable" : "finding with a line", db ? db : "(none)");
    dh_err_release(&err);
    return ok && g->n;
}

static bool add_target(struct dh_str *out, const struct dh_noise_clause *c, const char *command, const char *db)
{
    bool variable = c->kind == DH_NOISE_VARIABLE;
    struct gathering g = {.out = out, .group = c->group, .variables = variable};
    if (c->name[0] == '@')
        return gather_from_store(&g, command, db);
    dh_str_addf(out, "noise %u %s:%.*s\n", c->group, variable ? "var" : "loc", (int)c->n_name, c->name);
    return true;
}

/* Whether accesses are to be delayed, and whether all of them may be. */
static bool add_noise(struct dh_str *out, const struct dh_focus *f, const char *command, const char *db, bool *accesses,
                      bool *all)
{
    struct dh_noise noise;
    struct dh_noise_error e;
    if (!f->noise)
        return true;
    if (!dh_noise_read(&noise, f->noise, &e)) {
        dh_complain("%s: --noise=%s: column %u: %s", command, f->noise, e.column, e.text);
        return false;
    }
    for (unsigned i = 0; i < noise.n; i++) {
        const struct dh_noise_clause *c = &noise.clause[i];
        bool named = c->kind == DH_NOISE_VARIABLE || c->kind == DH_NOISE_LOCATION;
        *accesses |= c->kind != DH_NOISE_SYNC;
        *all |= c->kind == DH_NOISE_RANDOM || c->kind == DH_NOISE_AUTO;
        if (named && !add_target(out, c, command, db))
            return false;
    }
    return true;
}

/* ---- sections ---- */

static bool add_sections(struct dh_str *out, const char *command, const char *path)
{
    struct dh_bytes b;
    struct dh_sections s;
    struct dh_sections_error e;
    struct dh_err err = {0};
    if (!path)
        return true;
    if (!dh_file_read(path, &b, &err)) {
        dh_complain("%s: --sections: %s", command, err.text);
        dh_err_release(&err);
        return false;
    }
    bool ok = dh_sections_read(&s, (const char *)b.at, b.n, malloc, &e);
    if (!ok)
        dh_complain("%s: --sections: %s:%u:%u: %s", command, path, e.line, e.column, e.text);
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

static bool check_seed(const struct dh_focus *f, const char *command)
{
    if (!f->seed || (*f->seed && strspn(f->seed, "0123456789") == strlen(f->seed) && strlen(f->seed) <= 9))
        return true;
    dh_complain("%s: --seed=%s: expected a number of at most nine digits", command, f->seed);
    return false;
}

static bool check_train(const struct dh_focus *f, const char *command)
{
    struct dh_trained_pairs t;
    struct dh_err err = {0};
    bool ok = !f->train || dh_trained_pairs_read(&t, f->train, &err);
    if (!ok)
        dh_complain("%s: --train: %s", command, err.text);
    if (f->train)
        dh_trained_pairs_release(&t);
    dh_err_release(&err);
    return ok;
}

static bool check_use(const struct dh_focus *f, const char *command, bool atomrace)
{
    const char *option = f->sites ? "sites" : f->sections ? "sections" : f->train ? "train" : NULL;
    if (!option || atomrace)
        return true;
    dh_complain("%s: --%s is for atomrace; add it to --detect", command, option);
    return false;
}

/* "race,atomrace" with the selection in it. */
static bool name_plan(struct dh_focus *f, const char *plan, const struct dh_str *text)
{
    struct dh_err err = {0};
    char *name = NULL;
    if (!dh_selection_store(text->at, text->n, &name, &f->selection, &err))
        return dh_fail(&err, 0), false;
    const char *at = strstr(plan, "atomrace");
    f->plan = at ? dh_format("%.*satomrace@%s%s", (int)(at - plan), plan, name, at + strlen("atomrace"))
                 : dh_format("%s,atomrace@%s", plan, name);
    free(name);
    return true;
}

bool dh_focus_prepare(struct dh_focus *f, const char *command, const char *detect, const char *plan, const char *db)
{
    bool atomrace = has_word(detect, "atomrace"), accesses = false, all = false;
    struct dh_str text = {0};
    bool ok = check_seed(f, command) && check_train(f, command) && check_use(f, command, atomrace) &&
              add_noise(&text, f, command, db, &accesses, &all);
    if (ok && f->sites)
        ok = add_sites(&text, command, f->sites);
    else if (ok && (atomrace || all))
        dh_str_add(&text, "sites all\n");
    ok = ok && add_sections(&text, command, f->sections);
    bool plain = !text.at || strcmp(text.at, "sites all\n") == 0;
    if (ok && (atomrace || accesses) && !plain)
        ok = name_plan(f, plan, &text);
    else if (ok)
        f->plan =
            (atomrace || accesses) && !has_word(plan, "atomrace") ? dh_format("%s,atomrace", plan) : dh_strdup(plan);
    dh_str_release(&text);
    return ok;
}

void dh_focus_tell(const struct dh_focus *f, void (*add)(const char *key, const char *value))
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
