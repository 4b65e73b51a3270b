/* Ends that searches found: each finding is confirmed once, by a few schedules at most. */
#include "base/alloc.h"
#include "finding/group.h"
#include "prove/campaign_internal.h"
#include "prove/end_finding.h"
#include "prove/replay.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 }; /* schedules per finding */
#define CONTEXTS_PATIENCE (2000 * MS)

static struct known_finding *known_finding_of(struct campaign *c, const char *id)
{
    for (size_t i = 0; i < c->known.n; i++)
        if (strcmp(c->known.at[i].id, id) == 0)
            return &c->known.at[i];
    struct known_finding k = {0};
    memcpy(k.id, id, strnlen(id, sizeof k.id - 1));
    dh_vec_push(&c->known, k);
    return &c->known.at[c->known.n - 1];
}

void dh_campaign_keep_visible(struct campaign *c, const struct search_process *from)
{
    const struct dh_engine_progress *p = &dh_engine_process_region(from->control)->progress;
    uint32_t places = c->terms.s->start.places;
    bool hides = p->hides && dh_engine_process_region(from->control)->job.flags & DH_ENGINE_NO_ORDER;
    if (hides && p->visible_added && !c->waited)
        c->waited = dh_xcalloc(places + 1, sizeof *c->waited);
    for (uint32_t i = 0; i < p->visible_added && i < DH_ENGINE_ADDED; i++)
        if (p->added[i] < places) {
            from->goal_search->visible[p->added[i]] |= DH_ENGINE_VISIBLE;
            if (hides)
                c->waited[p->added[i]] = DH_ENGINE_VISIBLE;
        }
    for (uint32_t i = 0; i < p->n_spared && i < DH_ENGINE_SPARED; i++)
        if (p->spared[i] < places)
            from->goal_search->visible[p->spared[i]] = 0;
}

/* ---- pairs of accesses that nothing orders ---- */

static void keep_schedule(const struct campaign *c, struct known_finding *k, const struct search_process *from)
{
    struct dh_schedule s = dh_campaign_schedule_of(c, from, k->unordered);
    k->flags = s.flags;
    for (uint32_t i = 0; i < c->terms.s->start.places; i++)
        if (s.visible[i]) {
            struct visible_place p = {i, s.visible[i]};
            dh_vec_push(&k->visible, p);
        }
    free((void *)s.visible);
}

static void keep_unordered(struct campaign *c, const struct search_process *from, const struct dh_engine_found *f)
{
    struct dh_finding finding;
    dh_end_finding(&c->terms.s->end_context, f, &finding);
    struct known_finding *k = known_finding_of(c, finding.id);
    if (!k->unordered) {
        k->unordered = dh_found_end_copy(f, f->size);
        keep_schedule(c, k, from);
    }
    dh_finding_release(&finding);
}

/* Its schedule again, for the stacks and locks of both accesses. */
static void add_contexts(const struct campaign *c, struct known_finding *k)
{
    struct dh_engine_found *f = k->unordered;
    dh_engine_marks *visible = dh_xcalloc(c->terms.s->start.places + 1, sizeof *visible);
    for (size_t i = 0; i < k->visible.n; i++)
        visible[k->visible.at[i].place] = k->visible.at[i].marks;
    struct dh_schedule s = {.decisions = f->decisions, .n = f->n_decisions, .visible = visible, .flags = k->flags};
    if (c->terms.o->judged)
        s.adversary = *c->terms.o->judged;
    struct dh_engine_found *again = dh_replay_unordered(&c->terms.s->start, &s, f, CONTEXTS_PATIENCE);
    free(visible);
    if (!again)
        return;
    free(f);
    k->unordered = again;
}

/* With its callers it may be one of a group that is proven, or reported already. */
static bool is_group_told(const struct campaign *c, uint64_t group)
{
    for (size_t i = 0; i < c->known.n; i++)
        if (c->known.at[i].group == group && (c->known.at[i].proven || c->known.at[i].counted))
            return true;
    return false;
}

static void report_unordered(struct campaign *c, struct known_finding *k)
{
    struct dh_finding finding;
    if (!dh_deadline_over())
        add_contexts(c, k);
    dh_end_finding(&c->terms.s->end_context, k->unordered, &finding);
    uint64_t group = c->terms.o->by_itself ? 0 : dh_finding_group(&finding);
    if (group && is_group_told(c, group))
        c->terms.out->more++;
    else
        c->terms.host->observed(c->terms.host->arg, &finding);
    k->group = group;
    k->counted = true;
    dh_finding_release(&finding);
}

void dh_campaign_report_unordered(struct campaign *c)
{
    for (size_t i = 0; i < c->known.n; i++) {
        struct known_finding *k = &c->known.at[i];
        if (k->unordered && !k->proven && !k->counted && c->terms.host->observed)
            report_unordered(c, k);
        free(k->unordered);
        dh_vec_release(&k->visible);
    }
}

/* ---- ends ---- */

/* Is another one of the group proven? Then this one is only counted. */
static bool is_shown(struct campaign *c, struct known_finding *k, const struct dh_finding *f)
{
    k->group = dh_finding_group(f);
    bool shares = k->group && !k->proven && !c->terms.o->by_itself;
    for (size_t i = 0; shares && i < c->known.n; i++)
        if (c->known.at[i].group == k->group && c->known.at[i].proven) {
            c->terms.out->more += !k->counted;
            k->counted = true;
        }
    return k->counted;
}

static bool is_goal_shown(const struct campaign *c, const struct dh_goal *g, const struct dh_finding *f)
{
    uint64_t group = c->terms.o->by_itself ? 0 : dh_finding_group(f);
    return g && (g->verdict == DH_GOAL_PROVEN || (group && dh_finding_group(g->finding) == group));
}

static void confirm_end(struct campaign *c, struct search_process *from, const struct dh_engine_found *f)
{
    struct dh_finding finding;
    if (f->kind == DH_ENGINE_UNORDERED) { /* the engine makes its places visible by itself */
        keep_unordered(c, from, f);
        return;
    }
    dh_end_finding(&c->terms.s->end_context, f, &finding);
    struct known_finding *k = known_finding_of(c, finding.id);
    if (dh_deadline_over())
        c->terms.out->untold += !k->proven && !k->tries++;
    else if (!is_shown(c, k, &finding) && !k->proven && k->tries < TRIES) {
        size_t at = (size_t)(k - c->known.at);
        bool proven = dh_campaign_confirm(c, from, f, &finding);
        k = &c->known.at[at];
        k->proven = proven;
        k->tries++;
        c->terms.out->unconfirmed += !proven && k->tries == TRIES;
        if (proven && (c->terms.o->first || is_goal_shown(c, from->goal_search->goal, &finding) ||
                       (from->goal_search->is_joint && dh_campaign_joint_goals_shown(c))))
            from->goal_search->over = true;
        c->stop = c->stop || (proven && c->terms.o->first);
    }
    dh_finding_release(&finding);
}

void dh_campaign_read_ends(struct campaign *c, struct search_process *s)
{
    struct dh_engine_control *region = dh_engine_process_region(s->control);
    const struct dh_engine_found *f;
    if (dh_engine_found_at(region, s->read))
        dh_subject_add_libraries(c->terms.s, region->libraries, region->n_libraries);
    while (!c->failed && !c->stop && (f = dh_engine_found_at(region, s->read))) {
        struct dh_engine_found *copy = dh_found_end_copy(f, region->found_size - s->read);
        if (!copy) {
            s->read = region->found_size;
            return;
        }
        s->read += copy->size;
        confirm_end(c, s, copy);
        free(copy);
    }
}
