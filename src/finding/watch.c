#include "finding/watch.h"

#include <stdlib.h>

struct dh_watch {
    struct dh_suspicion_collector *suspicions;
    struct dh_feed *feed;
};

struct dh_watch *dh_watch_new(const struct dh_meta *meta, const struct dh_run_host *words,
                              const dh_detector_list *detectors, const struct dh_detector_options *options,
                              const struct dh_finding_sink *sink, struct dh_err *err)
{
    struct dh_watch *w = calloc(1, sizeof *w);
    struct dh_run_host host = {0};
    if (!w)
        abort();
    w->suspicions = dh_suspicion_collector_new(meta, sink);
    if (words)
        dh_suspicion_collector_set_sites(w->suspicions, words);
    dh_suspicion_collector_fill_host(w->suspicions, &host);
    w->feed = dh_feed_new(meta, &host, detectors, options, err);
    if (w->feed) {
        dh_suspicion_collector_set_world(w->suspicions, dh_feed_world(w->feed));
        return w;
    }
    dh_watch_free(w);
    return NULL;
}

void dh_watch_event(struct dh_watch *w, const struct dh_event *e)
{
    dh_feed_event(w->feed, e);
}

void dh_watch_end(struct dh_watch *w)
{
    dh_feed_end(w->feed);
}

void dh_watch_count(const struct dh_watch *w, struct dh_str *out)
{
    dh_feed_count(w->feed, out);
}

struct dh_suspicion_collector *dh_watch_suspicions(struct dh_watch *w)
{
    return w->suspicions;
}

void dh_watch_free(struct dh_watch *w)
{
    if (!w)
        return;
    dh_feed_free(w->feed);
    dh_suspicion_collector_free(w->suspicions);
    free(w);
}
