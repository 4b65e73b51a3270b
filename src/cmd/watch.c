#include "cmd/watch.h"

#include "base/names.h"
#include "finding/store.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct dh_watch {
    struct dh_meaning *meaning;
    struct dh_world_host of_meaning; /* what ours asks */
    const struct dh_parsed *options;
    struct dh_feed *feed;
    struct dh_names seen; /* suspicions that were told before */
    DH_VEC(struct dh_finding) findings;
};

static const char *option(void *arg, const char *key)
{
    return dh_option_get(arg, key);
}

/* ---- what the world asks ---- */

static const struct dh_site *host_site(void *arg, uint32_t place, const struct dh_site_table **table)
{
    struct dh_world_host *h = &((struct dh_watch *)arg)->of_meaning;
    return h->site(h->arg, place, table);
}

static bool host_global(void *arg, uint64_t addr, uint64_t *at, uint64_t *size)
{
    struct dh_world_host *h = &((struct dh_watch *)arg)->of_meaning;
    return h->global(h->arg, addr, at, size);
}

static const char *const *host_may_access(void *arg, uint32_t place, bool write, size_t *n)
{
    struct dh_world_host *h = &((struct dh_watch *)arg)->of_meaning;
    return h->may_access ? h->may_access(h->arg, place, write, n) : NULL;
}

/* ---- what was found ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Whether the same was told before, by what is quickly compared. */
static bool is_new(struct dh_watch *w, const char *detector, const struct dh_suspicion *s)
{
    uint32_t sites[DH_SUSPECTS];
    size_t n = s->n_suspects < DH_SUSPECTS ? s->n_suspects : DH_SUSPECTS;
    struct dh_str key = {0};
    for (size_t i = 0; i < n; i++)
        sites[i] = s->suspects[i].site;
    qsort(sites, n, sizeof *sites, by_number);
    dh_str_addf(&key, "%s %d %d %s", detector, s->kind, s->level, s->key ? s->key : "");
    for (size_t i = 0; i < n; i++)
        dh_str_addf(&key, " %u", sites[i]);
    bool fresh = !dh_names_has(&w->seen, key.at);
    if (fresh)
        dh_names_add(&w->seen, key.at);
    dh_str_release(&key);
    return fresh;
}

static void keep_higher(struct dh_finding *old, struct dh_finding *new)
{
    if (strcmp(old->level, "suspected") == 0 && strcmp(new->level, "suspected") != 0) {
        struct dh_finding other = *old;
        *old = *new;
        *new = other;
    }
    dh_finding_release(new);
}

static void host_found(void *arg, const char *detector, const void *suspicion)
{
    struct dh_watch *w = arg;
    struct dh_finding f;
    if (!is_new(w, detector, suspicion))
        return;
    dh_watch_finding(w->meaning, detector, suspicion, &f);
    for (size_t i = 0; i < w->findings.n; i++)
        if (strcmp(w->findings.at[i].id, f.id) == 0 && strcmp(w->findings.at[i].detector, f.detector) == 0) {
            keep_higher(&w->findings.at[i], &f);
            return;
        }
    dh_vec_push(&w->findings, f);
}

struct dh_watch *dh_watch_new(struct dh_meaning *m, const dh_detector_list *detectors, const struct dh_parsed *p,
                              struct dh_err *err)
{
    struct dh_watch *w = calloc(1, sizeof *w);
    struct dh_detector_options o = {.get = option, .arg = (void *)p};
    struct dh_world_host host = {
        .site = host_site, .global = host_global, .may_access = host_may_access, .found = host_found, .arg = w};
    if (!w)
        abort();
    w->meaning = m;
    dh_meaning_host(m, &w->of_meaning);
    w->feed = dh_feed_new(dh_meaning_meta(m), &host, detectors, &o, err);
    if (w->feed)
        return w;
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

const struct dh_finding *dh_watch_findings(const struct dh_watch *w, size_t *n)
{
    *n = w->findings.n;
    return w->findings.at;
}

bool dh_watch_store(const struct dh_watch *w, const char *db, const char *program, const char *arguments,
                    struct dh_err *err)
{
    struct dh_store *s = dh_store_open(db, DH_STORE_WRITE, err);
    struct dh_store_run run = {.program = program, .arguments = arguments, .started = (long long)time(NULL)};
    long long id = 0;
    bool ok = s && dh_store_begin(s, &run, &id, err);
    for (size_t i = 0; ok && i < w->findings.n; i++)
        ok = dh_store_add(s, id, &w->findings.at[i], err);
    ok = ok && dh_store_commit(s, err);
    dh_store_close(s);
    return ok;
}

void dh_watch_free(struct dh_watch *w)
{
    if (!w)
        return;
    dh_feed_free(w->feed);
    dh_names_release(&w->seen);
    for (size_t i = 0; i < w->findings.n; i++)
        dh_finding_release(&w->findings.at[i]);
    dh_vec_release(&w->findings);
    free(w);
}
