#include "search/fair.h"

#include "search/actors.h"
#include "search/grow.h"

void dh_fair_begin(struct dh_fair *f)
{
    f->threads = 0;
    f->now = 0;
    f->any = false;
}

bool dh_fair_observe(struct dh_fair *f, struct dh_search *search, const struct dh_decision *now)
{
    if (!DH_SEARCH_GROW(search, f, thread, f->threads, now->count))
        return false;
    for (; f->threads < now->count; f->threads++)
        f->thread[f->threads] = (struct dh_fair_thread){.moved = f->now};
    f->now++;
    if (now->last >= now->count)
        return true;
    struct dh_fair_thread *t = &f->thread[now->last];
    t->moved = f->now;
    if (now->actors[now->last].yields && now->actors[now->last].step.occurrence) {
        t->owes = t->yielded;
        t->yielded = f->now;
        f->any |= t->owes;
    }
    return true;
}

bool dh_fair_is_blocked(const struct dh_fair *f, const struct dh_decision *now, uint32_t thread)
{
    uint32_t owes = f->thread[thread].owes;
    if (!f->any || !owes)
        return false;
    for (uint32_t i = 0; i < now->count; i++)
        if (i != thread && f->thread[i].moved < owes && dh_actor_rank(&now->actors[i]) >= DH_RANK_YIELDS)
            return true;
    return false;
}
