/* deadheat analyze: detectors on a recorded event stream. */
#include "cmd/progress.h"
#include "cmd/run_options.h"
#include "finding/details.h"
#include "finding/store.h"
#include "finding/watch.h"
#include "report/formats.h"
#include "trace/rules.h"
#include "trace/source.h"
#include "trace/source_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What was found, rendered; a finding that rises takes the place of what it was. */
struct found {
    char *id, *text, *details;
};

struct results {
    const struct dh_report_format *format;
    DH_VEC(struct found) all;
};

static bool take_finding(void *arg, const struct dh_finding *f)
{
    struct results *r = arg;
    struct dh_str out = {0};
    size_t i = 0;
    while (i < r->all.n && strcmp(r->all.at[i].id, f->id))
        i++;
    r->format->finding(&out, i, f);
    if (i == r->all.n)
        dh_vec_push(&r->all, (struct found){.id = dh_strdup(f->id)});
    free(r->all.at[i].text);
    free(r->all.at[i].details);
    r->all.at[i].text = dh_str_take(&out);
    r->all.at[i].details = dh_details_write(f);
    return true;
}

static void release_results(struct results *r)
{
    for (size_t i = 0; i < r->all.n; i++) {
        free(r->all.at[i].id);
        free(r->all.at[i].text);
        free(r->all.at[i].details);
    }
    dh_vec_release(&r->all);
}

static void print_results(const struct results *r, const char *path)
{
    struct dh_str out = {0};
    r->format->begin(&out);
    for (size_t i = 0; i < r->all.n; i++)
        dh_str_add(&out, r->all.at[i].text);
    r->format->end(&out);
    if (out.at)
        fputs(out.at, stdout);
    if (r->format->is_prose)
        printf("%zu finding%s in %s\n", r->all.n, r->all.n == 1 ? "" : "s", path);
    dh_str_release(&out);
}

static bool store_results(const struct results *r, const char *db, const char *program, struct dh_err *err)
{
    struct dh_store_run run = {.program = program, .arguments = "", .started = (long long)time(NULL)};
    struct dh_store *s = dh_store_open(db, DH_STORE_WRITE, err);
    long long id = 0;
    bool ok = s && dh_store_begin(s, &run, &id, err);
    for (size_t i = 0; ok && i < r->all.n; i++) {
        struct dh_finding f;
        if (!dh_details_read(r->all.at[i].details, &f))
            continue;
        dh_finding_set(&f.id, r->all.at[i].id);
        f.first_seen = f.last_seen = run.started;
        ok = dh_store_add(s, id, &f, err);
        dh_finding_release(&f);
    }
    ok = ok && dh_store_commit(s, err);
    dh_store_close(s);
    return ok;
}

/* ---- one trace ---- */

struct job {
    const struct dh_parsed *options;
    const char *path;
    dh_detector_list detectors;
    struct dh_rules *rules;
    struct dh_source *source;
    struct dh_source_names *meaning;
    struct dh_watch *watch;
    struct results results;
};

static void release_job(struct job *j)
{
    dh_watch_free(j->watch);
    dh_source_names_free(j->meaning);
    dh_source_close(j->source);
    dh_rules_free(j->rules);
    dh_vec_release(&j->detectors);
    release_results(&j->results);
}

static bool begin_job(struct job *j, struct dh_err *err)
{
    const char *rules = dh_option_get(j->options, "rules");
    struct dh_finding_sink sink = {.found = take_finding, .arg = &j->results};
    struct dh_run_host words;
    if (!dh_detectors_parse(dh_option_get(j->options, "detect"), &j->detectors, err))
        return dh_err_while(err, "reading --detect=%s", dh_option_get(j->options, "detect"));
    if (rules && !(j->rules = dh_rules_read(rules, err)))
        return false;
    if (!(j->source = dh_source_open(j->path, err)))
        return false;
    j->meaning = dh_source_names_new(j->source);
    bool own = dh_source_names_host(j->meaning, &words);
    struct dh_detector_options options = dh_options_of_detectors(j->options);
    j->watch = dh_watch_new(dh_source_meta(j->source), own ? &words : NULL, &j->detectors, &options, &sink, err);
    if (j->watch && own)
        dh_suspicion_collector_set_namer(dh_watch_suspicions(j->watch), dh_source_names_address, j->meaning);
    return j->watch;
}

static bool feed(struct job *j, struct dh_err *err)
{
    struct dh_progress progress = {.what = "analyze"};
    struct dh_run_host host;
    struct dh_event e;
    enum dh_source_answer a;
    dh_suspicion_collector_fill_host(dh_watch_suspicions(j->watch), &host);
    struct dh_rules_filter *filter = dh_rules_filter_new(j->rules, &host);
    while ((a = dh_source_next(j->source, &e, err)) == DH_SOURCE_EVENT) {
        if (dh_rules_keeps(filter, &e))
            dh_watch_event(j->watch, &e);
        if (dh_progress_step(&progress)) {
            uint64_t at, of;
            dh_source_progress(j->source, &at, &of);
            dh_progress_show(&progress, at, of);
        }
    }
    dh_progress_end(&progress);
    /* What was read of a damaged one counts, as of a program that was killed. */
    dh_watch_end(j->watch);
    dh_rules_filter_free(filter);
    return a == DH_SOURCE_END;
}

static void print_counts(const struct job *j)
{
    struct dh_str text = {0};
    dh_watch_count(j->watch, &text);
    if (text.at)
        fputs(text.at, stderr);
    dh_str_release(&text);
}

static int report(struct job *j)
{
    struct dh_err err = {0};
    const struct dh_meta *meta = dh_source_meta(j->source);
    const char *db = dh_option_get(j->options, "db"), *program = meta && meta->program ? meta->program : j->path;
    if (dh_source_is_cut(j->source))
        dh_notice("analyze: %s; what it holds was analysed", dh_source_cut_text(j->source));
    print_results(&j->results, j->path);
    if (dh_option_given(j->options, "counts"))
        print_counts(j);
    if (db && !store_results(&j->results, db, program, &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    return j->results.all.n ? DH_EXIT_FINDINGS : DH_EXIT_OK;
}

static int analyze(const struct dh_parsed *p, const char *path)
{
    struct dh_err err = {0};
    struct job j = {.options = p, .path = path};
    int code = DH_EXIT_USAGE;
    j.results.format = dh_report_format_find(dh_option_get(p, "format"));
    if (begin_job(&j, &err)) {
        bool whole = feed(&j, &err);
        code = report(&j);
        code = whole ? code : DH_EXIT_USAGE;
    }
    if (err.text)
        dh_fail(&err, code);
    release_job(&j);
    return code;
}

static int run_analyze(const struct dh_command *self, int argc, char **argv)
{
    bool done;
    char **operands;
    struct dh_parsed *p = dh_options_parse(self, argc, argv, &done);
    int code = DH_EXIT_USAGE;
    if (!p)
        return code;
    if (done)
        code = DH_EXIT_OK;
    else if (dh_operands(p, &operands) != 1)
        dh_notice("analyze: name one trace; 'deadheat analyze --help' tells more");
    else
        code = analyze(p, operands[0]);
    dh_parsed_free(p);
    return code;
}

static const struct dh_option options[] = {
    {"detect", DH_OPTION_STRING, "DETECTOR,...", "all", "detectors to run; 'all' is every one that watches events"},
    {"format", DH_OPTION_CHOICE, dh_report_format_choice, dh_report_format_default,
     "reports for people, or a JSON document as 'deadheat report' has"},
    {"db", DH_OPTION_STRING, "FILE", NULL, "store of findings that they are added to; made if missing"},
    {"rules", DH_OPTION_STRING, "FILE", NULL,
     "accesses to leave out: lines 'skip|record file|function|type|field PATTERN', the last that matches decides"},
    {"counts", DH_OPTION_FLAG, NULL, NULL,
     "what detectors counted, on standard error: the objects that came to each state of the object race detector"},
#define DH_DETECTOR_OPTION(name, value, help) {name, DH_OPTION_STRING, value, NULL, help},
#include "cmd/detector_options.def"
#undef DH_DETECTOR_OPTION
    {0}};

const struct dh_command dh_command_analyze = {
    .name = "analyze",
    .usage = "[OPTION...] TRACE",
    .summary = "run detectors on a recorded trace",
    .description =
        "Reads the events that 'deadheat record' wrote, or that 'deadheat trace import' made of another tool's trace,\n"
        "or a text trace, and runs detectors on them as if the program ran. Exit code 1 says that something was\n"
        "found, 2 that the trace is damaged or an option is wrong.",
    .examples = "  deadheat analyze run.dht\n  deadheat analyze --detect=lockset,views --format=json run.dht\n",
    .options = options,
    .run = run_analyze,
};
