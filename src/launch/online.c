#include "launch/online.h"

#include "base/alloc.h"
#include "base/str.h"
#include "host/notice.h"
#include "launch/launch.h"
#include "launch/live_reports.h"
#include "trace/deferred_feed.h"
#include "trace/feed.h"
#include "trace/live.h"
#include "trace/rules.h"
#include "trace/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dh_online {
    struct dh_online_options o;
    dh_detector_list detectors;
    struct dh_live_reports reports;
    struct dh_rules *rules; /* NULL: all accesses count */
    struct dh_live *live;
    unsigned findings;
    DH_VEC(uint32_t) pids; /* of the traces that were begun */
    struct dh_err wrong;   /* the first thing that went wrong */
};

struct process {
    struct dh_online *online;
    const struct dh_meta *meta;
    struct dh_suspicion_collector *suspicions;
    struct dh_feed *feed;               /* NULL: no detector watches */
    struct dh_deferred_feed *postponed; /* NULL: they hear of everything at once */
    struct dh_dht *trace;               /* NULL: none is written */
    FILE *text;                         /* the same, for people */
    struct dh_rules_filter *filter;
    struct dh_run_host words;
};

static void keep_first(struct dh_online *o, struct dh_err *err)
{
    if (o->wrong.text || !err->text)
        dh_err_release(err);
    else
        o->wrong = *err;
    *err = (struct dh_err){0};
}

/* ---- a process ---- */

static const char *no_option(void *arg, const char *key)
{
    (void)arg;
    (void)key;
    return NULL;
}

static void begin_watching(struct process *p)
{
    struct dh_online *o = p->online;
    struct dh_err err = {0};
    if (o->o.log) {
        char *path = dh_format("%s.%u" DH_LIVE_LOG_SUFFIX, o->o.log, p->meta->pid);
        if (!dh_suspicion_collector_open_log(p->suspicions, path, &err))
            keep_first(o, &err);
        free(path);
    }
    p->feed = dh_feed_new(p->meta, &p->words, &o->detectors, &o->o.of_detectors, &err);
    if (p->feed)
        dh_suspicion_collector_set_world(p->suspicions, dh_feed_world(p->feed));
    else
        keep_first(o, &err);
    if (p->feed && dh_may_defer(&o->detectors, &o->o.of_detectors))
        p->postponed = dh_deferred_feed_new(p->feed);
}

static const char text_suffix[] = ".trace";

/* run.dht, then run.PID.dht for what the program starts, and run.PID-2.dht for what that executes. */
static char *trace_path(const struct dh_online *o, uint32_t pid)
{
    const char *path = o->o.trace, *dot = strrchr(dh_basename(path), '.');
    size_t n = dot ? (size_t)(dot - path) : strlen(path);
    unsigned same = 1;
    for (size_t i = 0; i < o->pids.n; i++)
        same += o->pids.at[i] == pid;
    if (!o->pids.n)
        return dh_strdup(path);
    return same > 1 ? dh_format("%.*s.%u-%u%s", (int)n, path, pid, same, path + n)
                    : dh_format("%.*s.%u%s", (int)n, path, pid, path + n);
}

static void begin_trace(struct process *p)
{
    struct dh_online *o = p->online;
    struct dh_err err = {0};
    char *path = trace_path(o, p->meta->pid);
    if (dh_ends_with(path, text_suffix))
        p->text = fopen(path, "we");
    else
        p->trace = dh_dht_create(path, p->meta, &o->o.bounds, &err);
    dh_vec_push(&o->pids, p->meta->pid);
    if (!p->trace && !p->text) {
        if (!err.text)
            dh_err_errno(&err, "cannot write %s", path);
        keep_first(o, &err);
    }
    free(path);
}

static void *begin_stream(void *arg, const struct dh_meta *meta)
{
    struct process *p = DH_NEW(struct process);
    p->online = arg;
    p->meta = meta;
    struct dh_finding_sink sink = dh_live_reports_sink(&p->online->reports);
    p->suspicions = dh_suspicion_collector_new(p->meta, &sink);
    dh_suspicion_collector_fill_host(p->suspicions, &p->words);
    p->filter = dh_rules_filter_new(p->online->rules, &p->words);
    if (p->online->detectors.n)
        begin_watching(p);
    if (p->online->o.trace)
        begin_trace(p);
    return p;
}

static void write_text(struct process *p, const struct dh_event *e)
{
    struct dh_str line = {0};
    dh_text_print(&line, &p->words, e);
    fwrite(line.at, 1, line.n, p->text);
    dh_str_release(&line);
}

static void event(void *process, const struct dh_event *e)
{
    struct process *p = process;
    if (p->online->rules && !dh_rules_keeps(p->filter, e))
        return;
    if (p->postponed)
        dh_deferred_feed_event(p->postponed, e);
    else if (p->feed)
        dh_feed_event(p->feed, e);
    if (p->trace)
        dh_dht_add(p->trace, e);
    if (p->text)
        write_text(p, e);
}

static void grown(void *process)
{
    struct process *p = process;
    if (p->trace)
        dh_dht_meta(p->trace, p->meta);
}

/* Bounds that were asked for are kept, but not in silence. */
static void note_bounds(const struct process *p)
{
    struct dh_dht_counts c;
    dh_dht_counts(p->trace, &c);
    if (dh_dht_is_full(p->trace))
        dh_notice("%s: the trace of process %u ends early: more does not fit below --max-size", p->online->o.command,
                  p->meta->pid);
    if (c.left_out)
        dh_notice("%s: %llu accesses of process %u were left out, %llu were kept (--max-size, --per-site-limit)",
                  p->online->o.command, (unsigned long long)c.left_out, p->meta->pid, (unsigned long long)c.accesses);
}

/* Findings are stored from the log. */
static void note_lost(const struct process *p)
{
    unsigned lost = dh_suspicion_collector_lost(p->suspicions);
    if (lost)
        dh_notice("%s: %u finding%s of process %u could not be written to the log: the store lacks %s",
                  p->online->o.command, lost, lost == 1 ? "" : "s", p->meta->pid, lost == 1 ? "it" : "them");
}

static void end_events(void *process, uint64_t lost)
{
    struct process *p = process;
    struct dh_online *o = p->online;
    struct dh_err err = {0};
    if (lost)
        dh_notice("%s: %llu events of process %u are missing", o->o.command, (unsigned long long)lost, p->meta->pid);
    if (p->postponed)
        dh_deferred_feed_end(p->postponed);
    dh_deferred_feed_free(p->postponed);
    if (p->feed)
        dh_feed_end(p->feed);
    o->findings += dh_suspicion_collector_count(p->suspicions);
    note_lost(p);
    dh_feed_free(p->feed);
    dh_rules_filter_free(p->filter);
    dh_suspicion_collector_free(p->suspicions);
    if (p->trace) {
        note_bounds(p);
        if (!dh_dht_close(p->trace, &err))
            keep_first(o, &err);
    }
    bool failed = p->text && ferror(p->text);
    if (p->text && (fclose(p->text) != 0 || failed)) {
        dh_err_errno(&err, "cannot write %s", o->o.trace);
        keep_first(o, &err);
    }
    free(p);
}

/* ---- the run ---- */

/* A detector that refuses its options says so before the program runs. */
static bool try_detectors(struct dh_online *o, struct dh_err *err)
{
    struct dh_run_host host = {0};
    struct dh_feed *f = dh_feed_new(NULL, &host, &o->detectors, &o->o.of_detectors, err);
    dh_feed_free(f);
    return f;
}

static void add_options(const struct dh_live *live)
{
    char *reader = dh_format("%d", (int)getpid());
    dh_runtime_option_add("stream", dh_live_folder(live));
    dh_runtime_option_add("stream_reader", reader);
    free(reader);
}

/* The same for a trace that cannot be written. */
static bool try_trace(const char *path, struct dh_err *err)
{
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (fd >= 0)
        close(fd);
    return !path || fd >= 0 || dh_err_errno(err, "cannot write %s", path);
}

static void release(struct dh_online *o)
{
    dh_rules_free(o->rules);
    dh_vec_release(&o->detectors);
    dh_vec_release(&o->pids);
    free(o);
}

struct dh_online *dh_online_open(const struct dh_online_options *options, struct dh_err *err)
{
    struct dh_online *o = DH_NEW(struct dh_online);
    o->o = *options;
    if (!o->o.of_detectors.get)
        o->o.of_detectors.get = no_option;
    struct dh_live_sink sink = {begin_stream, event, grown, end_events, o};
    bool ok =
        !*options->detectors || (dh_detectors_parse(options->detectors, &o->detectors, err) && try_detectors(o, err));
    ok = ok && (!options->rules || (o->rules = dh_rules_read(options->rules, err)));
    if (ok && try_trace(options->trace, err))
        o->live = dh_live_open(&sink, err);
    if (!o->live) {
        release(o);
        return NULL;
    }
    dh_live_reports_init(&o->reports, options->suppressions, options->report);
    o->reports.waits = options->log;
    add_options(o->live);
    return o;
}

static bool work(void *arg)
{
    return dh_live_poll(((struct dh_online *)arg)->live);
}

struct dh_background_work dh_online_work(struct dh_online *o)
{
    return (struct dh_background_work){work, o};
}

const char *dh_online_folder(const struct dh_online *o)
{
    return dh_live_folder(o->live);
}

bool dh_online_close(struct dh_online *o, unsigned *findings, struct dh_err *err)
{
    dh_live_close(o->live);
    dh_live_reports_finish(&o->reports, o->o.log);
    dh_live_reports_release(&o->reports);
    *findings = o->findings;
    bool ok = !o->wrong.text;
    if (!ok)
        *err = o->wrong;
    release(o);
    return ok;
}
