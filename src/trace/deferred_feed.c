#include "trace/deferred_feed.h"
#include "base/alloc.h"

#include "detect/prefilter.h"
#include "trace/event_buffer.h"

#include <stdlib.h>
#include <unistd.h>

/* Bytes of the buffer, at three to six for each event: a sixteenth of the machine's memory, within bounds. Half of that
 * is not compressed. */
enum { LEAST = 64 << 20, MOST = 512 << 20, PART = 16 };

struct dh_deferred_feed {
    struct dh_feed *feed;
    struct dh_prefilter *prefilter;
    struct dh_event_buffer *buffer; /* NULL: detectors get every event at once */
    size_t most;                    /* bytes of it */
};

bool dh_may_defer(const dh_detector_list *detectors, const struct dh_detector_options *options)
{
    for (size_t i = 0; i < detectors->n; i++)
        if (!detectors->at[i]->may_defer || !detectors->at[i]->may_defer(options))
            return false;
    return detectors->n > 0;
}

static size_t bytes_at_most(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t part = pages > 0 && page > 0 ? (size_t)pages / PART * (size_t)page : LEAST;
    return part < LEAST ? LEAST : part > MOST ? MOST : part;
}

struct dh_deferred_feed *dh_deferred_feed_new(struct dh_feed *feed)
{
    struct dh_deferred_feed *p = DH_NEW(struct dh_deferred_feed);
    p->feed = feed;
    p->prefilter = dh_prefilter_new();
    p->most = bytes_at_most();
    p->buffer = dh_event_buffer_new(p->most / 2);
    return p;
}

static void replay(void *feed, const struct dh_event *e)
{
    dh_feed_event(feed, e);
}

static void catch_up(struct dh_deferred_feed *p)
{
    dh_prefilter_free(p->prefilter);
    p->prefilter = NULL;
    dh_event_buffer_replay(p->buffer, replay, p->feed);
    dh_event_buffer_free(p->buffer);
    p->buffer = NULL;
}

void dh_deferred_feed_event(struct dh_deferred_feed *p, const struct dh_event *e)
{
    if (!p->buffer) {
        dh_feed_event(p->feed, e);
        return;
    }
    dh_event_buffer_add(p->buffer, e);
    if (!dh_prefilter_event(p->prefilter, e) || dh_event_buffer_bytes(p->buffer) > p->most)
        catch_up(p);
}

void dh_deferred_feed_end(struct dh_deferred_feed *p)
{
    if (p->buffer && !dh_prefilter_end(p->prefilter))
        catch_up(p);
}

void dh_deferred_feed_free(struct dh_deferred_feed *p)
{
    if (!p)
        return;
    dh_prefilter_free(p->prefilter);
    dh_event_buffer_free(p->buffer);
    free(p);
}
