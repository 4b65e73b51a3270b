/* deadheat free-run [--NAME=VALUE...] -- PROG [ARG...]: runs with stale values and kernel threads, one line of JSON
 * each. For tests and benchmarks; what people type is 'deadheat classify'. */
#include "classify/free_runs.h"
#include "classify/racy_variables.h"
#include "cmd/command.h"
#include "host/process.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asked {
    const char *variable, *heuristic, *program, *log, *input;
    uint64_t runs, seed, run_ms, baseline, threads;
    bool all, tears, empty;
};

struct reporting {
    const struct dh_baseline *baseline;
    struct dh_subject *s;
};

static json_t *place_name(struct dh_subject *s, uint32_t place)
{
    const struct dh_site_table *t;
    const struct dh_site *site = dh_place_names_site(s->places, place, &t);
    if (!site)
        return json_null();
    char *text = dh_format("%s:%u", dh_basename(dh_site_string(t, site->file)), site->line);
    json_t *j = json_string(text);
    free(text);
    return j;
}

static json_t *read_json(struct dh_subject *s, const struct dh_engine_stale_read *r)
{
    return json_pack("{s:i,s:o,s:I,s:o,s:I,s:o,s:b}", "thread", (int)r->thread, "at", place_name(s, r->place), "got",
                     (json_int_t)r->got.value, "written", place_name(s, r->got.place), "newest",
                     (json_int_t)r->newest.value, "newest_written", place_name(s, r->newest.place), "torn",
                     r->is_torn != 0);
}

static bool print_run(void *arg, const struct dh_free_run *r)
{
    static const char *const ends[] = {"exited", "killed", "hung", "declined"};
    const struct reporting *t = arg;
    json_t *j = json_pack("{s:s,s:i,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "end", ends[r->end],
                          "status", r->wait_status, "time_ns", (json_int_t)r->time_ns, "cpu_ns", (json_int_t)r->cpu_ns,
                          "operations", (json_int_t)r->operations, "loads", (json_int_t)r->loads, "passed",
                          (json_int_t)r->passed, "open", (json_int_t)r->open_loads, "stale", (json_int_t)r->stale_loads,
                          "stores", (json_int_t)r->stores, "locations", (json_int_t)r->locations, "shared",
                          (json_int_t)r->shared, "buffer", (json_int_t)r->buffer_most, "removed",
                          (json_int_t)r->removed, "untold", (json_int_t)r->untold, "threads", (json_int_t)r->threads);
    if (t->baseline)
        json_object_set_new(j, "judged", json_string(dh_engine_end_names[dh_free_judge(r, t->baseline)]));
    if (r->n_stale)
        json_object_set_new(j, "first", read_json(t->s, &r->stale[0]));
    json_object_set_new(j, "printed", json_stringn_nocheck(r->printed, strlen(r->printed)));
    json_dumpf(j, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    printf("\n");
    fflush(stdout);
    json_decref(j);
    return true;
}

static bool read_word(struct asked *a, const char *word)
{
    const struct {
        const char *name, **text;
        uint64_t *number;
        bool *flag;
    } table[] = {{"--variable=", &a->variable, 0, 0},
                 {"--heuristic=", &a->heuristic, 0, 0},
                 {"--program=", &a->program, 0, 0},
                 {"--log=", &a->log, 0, 0},
                 {"--input=", &a->input, 0, 0},
                 {"--runs=", 0, &a->runs, 0},
                 {"--seed=", 0, &a->seed, 0},
                 {"--run-ms=", 0, &a->run_ms, 0},
                 {"--baseline=", 0, &a->baseline, 0},
                 {"--threads=", 0, &a->threads, 0},
                 {"--all", 0, 0, &a->all},
                 {"--tears", 0, 0, &a->tears},
                 {"--empty", 0, 0, &a->empty}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = strlen(table[i].name);
        if (strncmp(word, table[i].name, n) != 0)
            continue;
        if (table[i].text)
            *table[i].text = word + n;
        else if (table[i].number)
            *table[i].number = strtoull(word + n, NULL, 10);
        else
            *table[i].flag = true;
        return true;
    }
    return false;
}

static void mark(struct dh_racy_variables *v, struct dh_subject *s, const struct asked *a, uint8_t *marks)
{
    for (uint32_t i = 0; i < s->start.places; i++)
        for (size_t k = 0; k < v->at.n; k++)
            if (v->at.at[k].marks[i])
                marks[i] = (uint8_t)(v->at.at[k].marks[i] | (a->tears ? DH_ENGINE_TEARS : 0));
}

/* A group, separated by commas. */
static bool name_variables(struct dh_racy_variables *v, struct dh_subject *s, const char *names, struct dh_err *err)
{
    struct dh_str near = {0};
    bool ok = true;
    for (const char *at = names; ok && *at;) {
        size_t n = strcspn(at, ",");
        char *name = dh_format("%.*s", (int)n, at);
        ok = dh_racy_variables_add_by_name(v, s, name, &near) || dh_err_set(err, "free-run: no variable '%s'", name);
        free(name);
        at += n + (at[n] == ',');
    }
    dh_str_release(&near);
    return ok;
}

static bool run(const struct asked *a, struct dh_subject *s, const struct dh_racy_variable *first, const uint8_t *marks,
                struct dh_err *err)
{
    struct dh_baseline b = {0};
    struct reporting t = {.s = s, .baseline = a->baseline ? &b : NULL};
    struct dh_free f = {.heuristic = a->empty ? NULL : a->heuristic,
                        .marks = marks,
                        .elements = first->elements.at,
                        .n_elements = first->elements.n,
                        .sites = first->sites.at,
                        .n_sites = first->sites.n,
                        .seed = a->seed,
                        .runs = a->baseline,
                        .run_ns = a->run_ms * 1000000,
                        .threads = (uint32_t)a->threads,
                        .program = a->program,
                        .all = a->all};
    if (a->baseline && !dh_free_baseline(&b, &f, s, err))
        return false;
    if (b.cannot)
        return dh_err_set(err, "free-run: no baseline: %s", b.cannot);
    f.runs = a->runs;
    f.log = a->log;
    bool ok = dh_free_run(&f, s, print_run, &t, err);
    dh_baseline_release(&b);
    return ok;
}

int dh_main_free_run(int argc, char **argv)
{
    struct asked a = {.heuristic = "random", .runs = 1, .seed = 1, .run_ms = 10000};
    struct dh_err err = {0};
    struct dh_subject s = {0};
    struct dh_racy_variables v = {0};
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!read_word(&a, argv[i])) {
            dh_notice("free-run: %s?", argv[i]);
            return DH_EXIT_USAGE;
        }
    char *program = i + 1 < argc ? dh_program_find(argv[i + 1]) : NULL;
    if (!program || !a.variable) {
        dh_notice("free-run: for tests: --variable=NAME[,NAME...] [--heuristic= --runs= --seed= --run-ms= "
                  "--baseline= --threads= "
                  "--log= --program= --input= --all --tears --empty] -- PROG args");
        return DH_EXIT_USAGE;
    }
    uint8_t *marks = NULL;
    bool ok = dh_subject_open(&s, program, program, NULL, argv + i + 1, a.input, &err) &&
              name_variables(&v, &s, a.variable, &err);
    if (ok) {
        marks = calloc(s.start.places + 1, 1);
        mark(&v, &s, &a, marks);
        ok = run(&a, &s, &v.at.at[0], marks, &err);
    }
    free(marks);
    free(program);
    dh_racy_variables_release(&v);
    dh_subject_release(&s);
    return ok ? DH_EXIT_OK : dh_fail(&err, DH_EXIT_FAILURE);
}
