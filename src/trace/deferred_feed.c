#include "trace/deferred_feed.h"
#include "base/alloc.h"

#include "detect/prefilter.h"
#include "trace/event_buffer.h"

#include <stdlib.h>
#include <unistd.h>

/* Bytes that are kept, at three to six for an event: a sixteenth of the machine's memory, within bounds. Half of that
 * is not compressed. */
enum { LEAST = 64 << 20, MOST = 512 << 20, PART = 16 };

struct dh_deferred_feed {
    struct dh_feed *feed;
    struct dh_prefilter *screen;
    struct dh_event_buffer *kept; /* NULL: detectors hear everything at once */
    size_t most;                  /* bytes of it */
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
    p->screen = dh_prefilter_new();
    p->most = bytes_at_most();
    p->kept = dh_event_buffer_new(p->most / 2);
    return p;
}

static void tell(void *feed, const struct dh_event *e)
{
    dh_feed_event(feed, e);
}

static void catch_up(struct dh_deferred_feed *p)
{
    dh_prefilter_free(p->screen);
    p->screen = NULL;
    dh_event_buffer_replay(p->kept, tell, p->feed);
    dh_event_buffer_free(p->kept);
    p->kept = NULL;
}

void dh_deferred_feed_event(struct dh_deferred_feed *p, const struct dh_event *e)
{
    if (!p->kept) {
        dh_feed_event(p->feed, e);
        return;
    }
    dh_event_buffer_add(p->kept, e);
    if (!dh_prefilter_event(p->screen, e) || dh_event_buffer_bytes(p->kept) > p->most)
        catch_up(p);
}

void dh_deferred_feed_end(struct dh_deferred_feed *p)
{
    if (p->kept && !dh_prefilter_end(p->screen))
        catch_up(p);
}

void dh_deferred_feed_free(struct dh_deferred_feed *p)
{
    if (!p)
        return;
    dh_prefilter_free(p->screen);
    dh_event_buffer_free(p->kept);
    free(p);
}
