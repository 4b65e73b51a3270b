/* For tests of detectors: a world whose places are named by the test, events in a row, and what was found. */
#ifndef DH_TESTS_STREAM_H
#define DH_TESTS_STREAM_H

#include "base/vec.h"
#include "detect/detector.h"
#include "event/site.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream_found {
    enum dh_finding_kind kind;
    enum dh_finding_level level;
    char key[256], text[512];
    uint32_t sites[DH_SUSPECTS];
    size_t n;
};

struct stream {
    const struct dh_detector *detector;
    struct dh_run_state *world;
    void *self;
    struct dh_site_builder *sites;
    struct dh_site_table view;
    uint64_t seq;
    DH_VEC(struct stream_found) found;
    /* Names that the section begun at a place may access, NULL-terminated; by place, or NULL. */
    const char *const **may;
    size_t n_may;
    /* How a value read at a place has to do with a section begun at another; NULL: nobody knows. */
    int (*flow)(struct stream *s, uint32_t read, uint32_t lock);
};

static const struct dh_site *stream_site(void *arg, uint32_t place, const struct dh_site_table **table)
{
    struct stream *s = arg;
    s->view = dh_site_builder_view(s->sites);
    *table = &s->view;
    return place < s->view.n_sites ? &s->view.sites[place] : NULL;
}

static const char *const *stream_may(void *arg, uint32_t place, bool write, size_t *n)
{
    struct stream *s = arg;
    *n = 0;
    if (!write || place >= s->n_may || !s->may[place])
        return NULL;
    while (s->may[place][*n])
        ++*n;
    return s->may[place];
}

static int stream_flow(void *arg, uint32_t read, uint32_t lock)
{
    struct stream *s = arg;
    return s->flow ? s->flow(s, read, lock) : -1;
}

static void stream_add_found(void *arg, const char *detector, const void *suspicion)
{
    struct stream *s = arg;
    const struct dh_suspicion *p = suspicion;
    struct stream_found f = {.kind = p->kind, .level = p->level, .n = p->n_suspects};
    (void)detector;
    snprintf(f.key, sizeof f.key, "%s", p->key ? p->key : "");
    snprintf(f.text, sizeof f.text, "%s", p->text ? p->text : "");
    for (size_t i = 0; i < p->n_suspects && i < DH_SUSPECTS; i++)
        f.sites[i] = p->suspects[i].site;
    dh_vec_push(&s->found, f);
}

static struct dh_run_state *stream_world(struct stream *s)
{
    struct dh_run_host host = {
        .site = stream_site, .may_access = stream_may, .flow = stream_flow, .found = stream_add_found, .arg = s};
    return dh_run_state_new(&host);
}

static void stream_begin(struct stream *s, const struct dh_detector *d)
{
    const char *why = NULL;
    struct dh_detector_options none = {0};
    *s = (struct stream){.detector = d, .sites = dh_site_builder_new()};
    s->world = stream_world(s);
    s->self = d->begin(s->world, &none, &why);
}

/* The place of an operation on a variable; the same for the same. */
static uint32_t stream_place(struct stream *s, const char *function, const char *variable)
{
    struct dh_site_table t = dh_site_builder_view(s->sites);
    for (uint32_t i = 0; i < t.n_sites; i++)
        if (strcmp(dh_site_string(&t, t.sites[i].function), function) == 0 &&
            strcmp(dh_site_string(&t, t.sites[i].variable), variable) == 0)
            return i;
    struct dh_site row = {.inlined = DH_NO_CHAIN};
    row.function = dh_site_builder_string(s->sites, function);
    row.variable = dh_site_builder_string(s->sites, variable);
    return dh_site_builder_add(s->sites, &row);
}

static void stream_send(struct stream *s, struct dh_event e)
{
    unsigned group = dh_event_info(e.kind)->group;
    if (!(group & (DH_EVENTS_ACCESS | DH_EVENTS_SCOPE)))
        e.seq = ++s->seq;
    dh_run_state_before(s->world, &e);
    if (group & s->detector->events)
        s->detector->event(s->self, &e);
    dh_run_state_after(s->world, &e);
}

static inline void stream_op(struct stream *s, unsigned thread, unsigned kind, uint64_t addr, uint64_t arg,
                             unsigned flags, uint32_t place)
{
    stream_send(
        s,
        (struct dh_event){
            .kind = (uint8_t)kind, .flags = (uint8_t)flags, .thread = thread, .site = place, .addr = addr, .arg = arg});
}

static void stream_finish(struct stream *s)
{
    s->detector->end(s->self);
    s->detector->release(s->self);
    dh_run_state_free(s->world);
}

static void stream_release(struct stream *s)
{
    dh_vec_release(&s->found);
    dh_site_builder_free(s->sites);
}

#endif
