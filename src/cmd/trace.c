/* deadheat trace: recorded event streams as text, and those of other tools as ours. */
#include "cmd/command.h"
#include "cmd/progress.h"
#include "finding/suspicion_collector.h"
#include "trace/dht.h"
#include "trace/rules.h"
#include "trace/source.h"
#include "trace/source_names.h"

#include <stdio.h>
#include <string.h>

/* ---- what both do: a source, rules, and what places mean ---- */

struct job {
    const struct dh_parsed *options;
    const char *path;
    struct dh_source *source;
    struct dh_source_names *meaning;
    struct dh_suspicion_collector *names; /* for what its modules say */
    struct dh_rules *rules;
    struct dh_rules_filter *filter;
    struct dh_run_host host;
};

static bool hear_nothing(void *arg, const struct dh_finding *f)
{
    (void)arg;
    (void)f;
    return false;
}

static bool begin_job(struct job *j, struct dh_err *err)
{
    static const struct dh_finding_sink nobody = {.found = hear_nothing};
    const char *rules = dh_option_get(j->options, "rules");
    if (rules && !(j->rules = dh_rules_read(rules, err)))
        return false;
    if (!(j->source = dh_source_open(j->path, err)))
        return false;
    j->meaning = dh_source_names_new(j->source);
    if (!dh_source_names_host(j->meaning, &j->host)) {
        j->names = dh_suspicion_collector_new(dh_source_meta(j->source), &nobody);
        dh_suspicion_collector_fill_host(j->names, &j->host);
    }
    j->filter = dh_rules_filter_new(j->rules, &j->host);
    return true;
}

static void end_job(struct job *j)
{
    dh_rules_filter_free(j->filter);
    dh_suspicion_collector_free(j->names);
    dh_source_names_free(j->meaning);
    dh_source_close(j->source);
    dh_rules_free(j->rules);
}

/* The events that the rules keep. */
static bool each_event(struct job *j, const char *what, bool (*fn)(void *arg, struct job *j, const struct dh_event *e),
                       void *arg, struct dh_err *err)
{
    struct dh_progress progress = {.what = what};
    struct dh_event e;
    enum dh_source_answer a;
    bool ok = true;
    while (ok && (a = dh_source_next(j->source, &e, err)) == DH_SOURCE_EVENT) {
        ok = !dh_rules_keeps(j->filter, &e) || fn(arg, j, &e);
        if (dh_progress_step(&progress)) {
            uint64_t at, of;
            dh_source_progress(j->source, &at, &of);
            dh_progress_show(&progress, at, of);
        }
    }
    dh_progress_end(&progress);
    if (ok && dh_source_is_cut(j->source))
        dh_notice("trace: %s", dh_source_cut_text(j->source));
    return ok && a == DH_SOURCE_END;
}

/* ---- dump ---- */

static bool print_event(void *arg, struct job *j, const struct dh_event *e)
{
    struct dh_str *out = arg;
    dh_str_clear(out);
    dh_text_print(out, &j->host, e);
    return fwrite(out->at, 1, out->n, stdout) == out->n;
}

static int dump(struct job *j)
{
    struct dh_err err = {0};
    struct dh_str line = {0};
    bool ok = begin_job(j, &err) && each_event(j, "trace dump", print_event, &line, &err);
    dh_str_release(&line);
    if (ok || ferror(stdout))
        return DH_EXIT_OK; /* main reports an output that cannot be written */
    return dh_fail(&err, DH_EXIT_USAGE);
}

/* ---- import ---- */

struct import {
    struct dh_dht *out;
    struct dh_meta places; /* of a text, which has no metadata */
    size_t written;        /* places that the file has */
};

static void copy_places(struct import *i, struct job *j, uint32_t site)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s;
    while (i->places.places.n <= site && (s = j->host.site(j->host.arg, (uint32_t)i->places.places.n, &t))) {
        struct dh_meta_place p = {s->op, s->line, dh_strdup(dh_site_string(t, s->file)),
                                  dh_strdup(dh_site_string(t, s->function)), dh_strdup(dh_site_string(t, s->variable))};
        dh_vec_push(&i->places.places, p);
    }
}

static bool add_event(void *arg, struct job *j, const struct dh_event *e)
{
    struct import *i = arg;
    const struct dh_meta *meta = dh_source_meta(j->source);
    if (!meta && e->site != DH_NO_PLACE)
        copy_places(i, j, e->site);
    meta = meta ? meta : &i->places;
    size_t known = meta->places.n + meta->threads.n + meta->modules.n + meta->contexts.n;
    if (known != i->written)
        dh_dht_meta(i->out, meta);
    i->written = known;
    return dh_dht_add(i->out, e);
}

static bool import_to(struct job *j, const char *path, struct dh_err *err)
{
    struct import i = {0};
    if (!begin_job(j, err) || !(i.out = dh_dht_create(path, dh_source_meta(j->source), NULL, err)))
        return false;
    bool ok = each_event(j, "trace import", add_event, &i, err);
    struct dh_err failed = {0};
    if (!dh_dht_close(i.out, &failed)) {
        dh_err_release(err);
        *err = failed;
        ok = false;
    }
    dh_meta_release(&i.places);
    return ok;
}

static int import(struct job *j)
{
    struct dh_err err = {0};
    const char *out = dh_option_get(j->options, "-o");
    if (!out) {
        dh_notice("trace: import: say where to: -o FILE.dht");
        return DH_EXIT_USAGE;
    }
    if (import_to(j, out, &err))
        return DH_EXIT_OK;
    return dh_fail(&err, DH_EXIT_USAGE);
}

/* ---- the command ---- */

static const struct {
    const char *name;
    int (*fn)(struct job *);
} deeds[] = {{"dump", dump}, {"import", import}};

static int trace(const struct dh_parsed *p)
{
    char **operands;
    int n = dh_operands(p, &operands), code = DH_EXIT_USAGE;
    size_t i = 0;
    while (n && i < sizeof deeds / sizeof *deeds && strcmp(deeds[i].name, operands[0]))
        i++;
    if (!n || i == sizeof deeds / sizeof *deeds) {
        dh_notice("trace: expected 'dump' or 'import', not '%s'; 'deadheat trace --help' tells more",
                  n ? operands[0] : "nothing");
    } else if (n != 2) {
        dh_notice("trace: %s: name one trace", operands[0]);
    } else {
        struct job j = {.options = p, .path = operands[1]};
        code = deeds[i].fn(&j);
        end_job(&j);
    }
    return code;
}

static int run_trace(const struct dh_command *self, int argc, char **argv)
{
    return dh_command_on_options(self, argc, argv, trace);
}

static const struct dh_option options[] = {
    {"-o", DH_OPTION_STRING, "FILE", NULL, "import: the .dht file to write"},
    {"rules", DH_OPTION_STRING, "FILE", NULL,
     "accesses to leave out: lines 'skip|record file|function|type|field PATTERN', the last that matches decides"},
    {0}};

const struct dh_command dh_command_trace = {
    .name = "trace",
    .usage = "dump [--rules=FILE] TRACE | import TRACE -o FILE.dht",
    .summary = "show a recorded trace as text, or take over another tool's",
    .description =
        "'dump' prints the events of a trace, one a line: thread, kind, object, what else is known of it, variable,\n"
        "function and place in the source. What it prints is a text trace, which 'deadheat analyze' reads.\n\n"
        "'import' writes a .dht file of a trace of another tool, the STD text of RAPID and RoadRunner (lines\n"
        "'thread|op(what)|location' with the operations r, w, acq, rel, fork, join, begin, end), or of a text trace.",
    .examples = "  deadheat trace dump run.dht | less\n  deadheat trace import account.std -o account.dht\n",
    .options = options,
    .run = run_trace,
};
