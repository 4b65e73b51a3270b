#include "trace/postpone.h"

#include "detect/prefilter.h"
#include "trace/kept.h"

#include <stdlib.h>
#include <unistd.h>

/* Bytes that are kept, at three to six for an event: a sixteenth of the machine's memory, within bounds. Half of that
 * is not compressed. */
enum { LEAST = 64 << 20, MOST = 512 << 20, PART = 16 };

struct dh_postponed {
    struct dh_feed *feed;
    struct dh_screen *screen;
    struct dh_kept *kept; /* NULL: detectors hear everything at once */
    size_t most;          /* bytes of it */
};

bool dh_may_postpone(const dh_detector_list *detectors, const struct dh_detector_options *options)
{
    for (size_t i = 0; i < detectors->n; i++)
        if (!detectors->at[i]->may_wait || !detectors->at[i]->may_wait(options))
            return false;
    return detectors->n > 0;
}

static size_t bytes_at_most(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t part = pages > 0 && page > 0 ? (size_t)pages / PART * (size_t)page : LEAST;
    return part < LEAST ? LEAST : part > MOST ? MOST : part;
}

struct dh_postponed *dh_postponed_new(struct dh_feed *feed)
{
    struct dh_postponed *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->feed = feed;
    p->screen = dh_screen_new();
    p->most = bytes_at_most();
    p->kept = dh_kept_new(p->most / 2);
    return p;
}

static void tell(void *feed, const struct dh_event *e)
{
    dh_feed_event(feed, e);
}

static void catch_up(struct dh_postponed *p)
{
    dh_screen_free(p->screen);
    p->screen = NULL;
    dh_kept_read(p->kept, tell, p->feed);
    dh_kept_free(p->kept);
    p->kept = NULL;
}

void dh_postponed_event(struct dh_postponed *p, const struct dh_event *e)
{
    if (!p->kept) {
        dh_feed_event(p->feed, e);
        return;
    }
    dh_kept_add(p->kept, e);
    if (!dh_screen_event(p->screen, e) || dh_kept_bytes(p->kept) > p->most)
        catch_up(p);
}

void dh_postponed_end(struct dh_postponed *p)
{
    if (p->kept && !dh_screen_end(p->screen))
        catch_up(p);
}

void dh_postponed_free(struct dh_postponed *p)
{
    if (!p)
        return;
    dh_screen_free(p->screen);
    dh_kept_free(p->kept);
    free(p);
}
