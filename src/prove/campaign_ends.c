/* What searches find: each finding is confirmed once, tried a few times. */
#include "base/alloc.h"
#include "prove/campaign_internal.h"
#include "prove/end_finding.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 3 }; /* schedules per finding that are replayed before it is given up */

static struct known *known_of(struct campaign *c, const char *id)
{
    for (size_t i = 0; i < c->known.n; i++)
        if (strcmp(c->known.at[i].id, id) == 0)
            return &c->known.at[i];
    struct known k = {0};
    memcpy(k.id, id, strnlen(id, sizeof k.id - 1));
    dh_vec_push(&c->known, k);
    return &c->known.at[c->known.n - 1];
}

/* What the search made visible while it went on is so from the beginning in those that come. */
void dh_campaign_keep_visible(const struct campaign *c, const struct search *from)
{
    const struct dh_engine_progress *p = &dh_engine_process_region(from->control)->progress;
    for (uint32_t i = 0; i < p->visible_added && i < DH_ENGINE_ADDED; i++)
        if (p->added[i] < c->of.s->start.places)
            from->aim->visible[p->added[i]] |= DH_ENGINE_VISIBLE;
}

static void note_unordered(struct campaign *c, const struct dh_engine_found *f)
{
    struct dh_finding finding;
    dh_end_finding(&c->of.s->of, f, &finding);
    struct known *k = known_of(c, finding.id);
    if (!k->unordered)
        k->unordered = dh_found_end_copy(f, f->size);
    dh_finding_release(&finding);
}

void dh_campaign_report_unordered(struct campaign *c)
{
    for (size_t i = 0; i < c->known.n; i++) {
        struct known *k = &c->known.at[i];
        if (k->unordered && !k->proven && c->of.host->observed) {
            struct dh_finding finding;
            dh_end_finding(&c->of.s->of, k->unordered, &finding);
            c->of.host->observed(c->of.host->arg, &finding);
            dh_finding_release(&finding);
        }
        free(k->unordered);
    }
}

static void take_found(struct campaign *c, struct search *from, const struct dh_engine_found *f)
{
    struct dh_finding finding;
    if (f->kind == DH_ENGINE_UNORDERED) { /* the engine goes after it by itself */
        note_unordered(c, f);
        return;
    }
    dh_end_finding(&c->of.s->of, f, &finding);
    struct known *k = known_of(c, finding.id);
    if (!k->proven && k->tries < TRIES) {
        size_t at = (size_t)(k - c->known.at);
        bool proven = dh_campaign_confirm(c, from, f, &finding, k->tries > 0);
        k = &c->known.at[at];
        k->proven = proven;
        k->tries++;
        c->of.out->unconfirmed += !proven && k->tries == TRIES;
        if (proven && (c->of.o->first || (from->aim->goal && from->aim->goal->verdict == DH_GOAL_PROVEN)))
            from->aim->over = true;
        c->stop = c->stop || (proven && c->of.o->first);
    }
    dh_finding_release(&finding);
}

void dh_campaign_read_ends(struct campaign *c, struct search *s)
{
    struct dh_engine_control *region = dh_engine_process_region(s->control);
    const struct dh_engine_found *f;
    if (dh_engine_found_at(region, s->read))
        dh_subject_add_libraries(c->of.s, &region->progress);
    while (!c->failed && !c->stop && (f = dh_engine_found_at(region, s->read))) {
        struct dh_engine_found *copy = dh_found_end_copy(f, region->found_size - s->read);
        if (!copy) {
            s->read = region->found_size;
            return;
        }
        s->read += copy->size;
        take_found(c, s, copy);
        free(copy);
    }
}
