/* deadheat analyze: detectors on a recorded event stream. */
#include "cmd/command.h"
#include "cmd/progress.h"
#include "cmd/watch.h"
#include "finding/store.h"
#include "report/json.h"
#include "report/text.h"
#include "trace/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool feed(struct dh_source *s, struct dh_watch *w, struct dh_err *err)
{
    struct dh_progress progress = {.what = "analyze"};
    struct dh_event e;
    enum dh_source_answer a;
    while ((a = dh_source_next(s, &e, err)) == DH_SOURCE_EVENT) {
        dh_watch_event(w, &e);
        if (dh_progress_step(&progress)) {
            uint64_t at, of;
            dh_source_progress(s, &at, &of);
            dh_progress_tell(&progress, at, of);
        }
    }
    dh_progress_end(&progress);
    /* What was read of a damaged one counts, as of a program that was killed. */
    dh_watch_end(w);
    return a == DH_SOURCE_END;
}

static void print_json(const struct dh_finding *f, size_t n)
{
    struct dh_str out = {0};
    for (size_t i = 0; i < n; i++) {
        dh_str_add(&out, i ? ",\n" : "\n");
        dh_report_json(&out, &f[i]);
    }
    printf("{\"version\":1,\"findings\":[%s\n]}\n", out.at ? out.at : "");
    dh_str_release(&out);
}

static void print_text(const struct dh_finding *f, size_t n, const char *path)
{
    struct dh_str out = {0};
    for (size_t i = 0; i < n; i++)
        dh_text_finding(&out, &f[i]);
    printf("%s%zu finding%s in %s\n", out.at ? out.at : "", n, n == 1 ? "" : "s", path);
    dh_str_release(&out);
}

static int tell(const struct dh_parsed *p, const struct dh_watch *w, struct dh_source *s, const char *path)
{
    struct dh_err err = {0};
    const struct dh_meta *meta = dh_source_meta(s);
    const char *db = dh_option_get(p, "db"), *program = meta && meta->program ? meta->program : path;
    size_t n;
    const struct dh_finding *f = dh_watch_findings(w, &n);
    if (dh_source_is_cut(s))
        dh_complain("analyze: %s: expected the index, but the file ends: its recorder was killed or it was cut; "
                    "what it holds was analysed",
                    path);
    if (strcmp(dh_option_get(p, "format"), "json") == 0)
        print_json(f, n);
    else
        print_text(f, n, path);
    if (db && !dh_watch_store(w, db, program, "", &err))
        return dh_fail(&err, DH_EXIT_FAILURE);
    return n ? DH_EXIT_FINDINGS : DH_EXIT_OK;
}

static int analyze_source(const struct dh_parsed *p, const dh_detector_list *detectors, struct dh_source *s,
                          const char *path)
{
    struct dh_err err = {0};
    struct dh_text *text = dh_source_text(s);
    struct dh_meaning *m = text ? dh_meaning_of_text(text) : dh_meaning_of_meta(dh_source_meta(s));
    struct dh_watch *w = dh_watch_new(m, detectors, p, &err);
    int code = DH_EXIT_USAGE;
    if (w) {
        bool whole = feed(s, w, &err);
        code = tell(p, w, s, path);
        code = whole ? code : DH_EXIT_USAGE;
    }
    if (err.text)
        dh_fail(&err, code);
    dh_watch_free(w);
    dh_meaning_free(m);
    return code;
}

static int analyze(const struct dh_parsed *p, const char *path)
{
    struct dh_err err = {0};
    dh_detector_list detectors = {0};
    struct dh_source *s = NULL;
    int code = DH_EXIT_USAGE;
    if (dh_detectors_parse(dh_option_get(p, "detect"), &detectors, &err))
        s = dh_source_open(path, &err);
    code = s ? analyze_source(p, &detectors, s, path) : dh_fail(&err, DH_EXIT_USAGE);
    dh_source_close(s);
    dh_vec_release(&detectors);
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
        dh_complain("analyze: name one trace; 'deadheat analyze --help' tells more");
    else
        code = analyze(p, operands[0]);
    dh_parsed_free(p);
    return code;
}

static const struct dh_option options[] = {
    {"detect", DH_OPTION_STRING, "DETECTOR,...", "all", "detectors to run; 'all' is every one that watches events"},
    {"format", DH_OPTION_CHOICE, "text|json", "text",
     "reports for people, or a JSON document as 'deadheat report' has"},
    {"db", DH_OPTION_STRING, "FILE", NULL, "store of findings that they are added to; made if missing"},
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
