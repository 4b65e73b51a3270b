#include "trace/feed.h"

#include "base/alloc.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct observer {
    const struct dh_detector *detector;
    void *self;
};

struct dh_feed {
    struct dh_run_state *run;
    DH_VEC(struct observer) observers;
    /* By kind of event: indices of the observers that get it. */
    DH_VEC(uint8_t) wanted[DH_EVENT_COUNT];
};

static bool has(const dh_detector_list *list, const struct dh_detector *d)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i] == d)
            return true;
    return false;
}

static bool unknown_detector(const char *name, size_t n, struct dh_err *err)
{
    struct dh_str all = {0};
    for (size_t i = 0; dh_detector_at(i); i++)
        dh_str_addf(&all, "%s%s", i ? ", " : "", dh_detector_at(i)->name);
    dh_err_set(err, "no detector '%.*s'; there are %s", (int)n, name, all.at ? all.at : "none");
    dh_str_release(&all);
    return false;
}

static void add_all(dh_detector_list *out)
{
    for (size_t i = 0; dh_detector_at(i); i++)
        if (!has(out, dh_detector_at(i)))
            dh_vec_push(out, dh_detector_at(i));
}

bool dh_detectors_parse(const char *list, dh_detector_list *out, struct dh_err *err)
{
    for (const char *at = list, *end; at; at = *end ? end + 1 : NULL) {
        end = at + strcspn(at, ",");
        size_t n = (size_t)(end - at);
        const struct dh_detector *d = dh_detector_find(at, n);
        if (n == 3 && strncmp(at, "all", n) == 0)
            add_all(out);
        else if (!d)
            return unknown_detector(at, n, err);
        else if (!has(out, d))
            dh_vec_push(out, d);
    }
    return true;
}

static void want(struct dh_feed *f, uint8_t index)
{
    for (unsigned kind = 0; kind < DH_EVENT_COUNT; kind++)
        if (f->observers.at[index].detector->events & dh_event_info(kind)->group)
            dh_vec_push(&f->wanted[kind], index);
}

static bool begin_detector(struct dh_feed *f, const struct dh_detector *d, const struct dh_detector_options *o,
                           struct dh_err *err)
{
    const char *why = NULL;
    void *self = d->begin(f->run, o, &why);
    if (!self)
        return dh_err_set(err, "%s: %s", d->name, why ? why : "cannot begin");
    dh_vec_push(&f->observers, (struct observer){d, self});
    want(f, (uint8_t)(f->observers.n - 1));
    return true;
}

static const char *no_option(void *arg, const char *key)
{
    (void)arg;
    (void)key;
    return NULL;
}

struct dh_feed *dh_feed_new(const struct dh_meta *meta, const struct dh_run_host *host,
                            const dh_detector_list *detectors, const struct dh_detector_options *options,
                            struct dh_err *err)
{
    static const struct dh_detector_options none = {.get = no_option};
    struct dh_feed *f = DH_NEW(struct dh_feed);
    (void)meta;
    f->run = dh_run_state_new(host);
    for (size_t i = 0; i < detectors->n && i < UINT8_MAX; i++)
        if (!begin_detector(f, detectors->at[i], options ? options : &none, err)) {
            dh_feed_free(f);
            return NULL;
        }
    return f;
}

void dh_feed_event(struct dh_feed *f, const struct dh_event *e)
{
    if (e->kind >= DH_EVENT_COUNT || e->thread >= DH_RUN_THREADS_MAX)
        return;
    dh_run_state_before(f->run, e);
    for (size_t i = 0; i < f->wanted[e->kind].n; i++) {
        const struct observer *w = &f->observers.at[f->wanted[e->kind].at[i]];
        w->detector->event(w->self, e);
    }
    dh_run_state_after(f->run, e);
}

void dh_feed_end(struct dh_feed *f)
{
    for (size_t i = 0; i < f->observers.n; i++)
        if (f->observers.at[i].detector->end)
            f->observers.at[i].detector->end(f->observers.at[i].self);
}

void dh_feed_count(const struct dh_feed *f, struct dh_str *out)
{
    for (size_t i = 0; i < f->observers.n; i++)
        if (f->observers.at[i].detector->count)
            f->observers.at[i].detector->count(f->observers.at[i].self, out);
}

void dh_feed_free(struct dh_feed *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->observers.n; i++)
        f->observers.at[i].detector->release(f->observers.at[i].self);
    for (unsigned kind = 0; kind < DH_EVENT_COUNT; kind++)
        dh_vec_release(&f->wanted[kind]);
    dh_vec_release(&f->observers);
    dh_run_state_free(f->run);
    free(f);
}

struct dh_run_state *dh_feed_world(struct dh_feed *f)
{
    return f->run;
}
