#include "launch/children_campaign.h"

#include "base/alloc.h"
#include "base/str.h"
#include "launch/open_subject.h"

#include <stdlib.h>
#include <string.h>

/* Of two searches that both must have covered everything. */
static enum dh_goal_status both(enum dh_goal_status a, enum dh_goal_status b)
{
    static const enum dh_goal_status order[] = {DH_GOAL_PROVEN,  DH_GOAL_OPEN,      DH_GOAL_SPENT,
                                                DH_GOAL_REFUTED, DH_GOAL_EXHAUSTED, DH_GOAL_SKIPPED};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a;
}

static char *first_text(char *a, const char *b)
{
    return a ? a : b ? dh_strdup(b) : NULL;
}

static void add_result(struct dh_campaign_result *to, const struct dh_campaign_result *r, bool is_first)
{
    to->verdict = is_first ? r->verdict : both(to->verdict, r->verdict);
    to->schedules += r->schedules;
    to->steps += r->steps;
    to->elapsed_ns += r->elapsed_ns;
    to->pairs += r->pairs;
    to->both += r->both;
    to->proven += r->proven;
    to->unconfirmed += r->unconfirmed;
    to->traces += r->traces;
    to->prefixes += r->prefixes;
    to->by_prefix += r->by_prefix;
    to->threads = r->threads > to->threads ? r->threads : to->threads;
    to->no_threads = to->no_threads || r->no_threads;
    to->interrupted = to->interrupted || r->interrupted;
    to->cannot = first_text(to->cannot, r->cannot);
    to->bounds = first_text(to->bounds, r->bounds);
}

/* Goals are open again for the next child; `kept` is what all so far say. */
static void merge_goals(struct dh_goal *goals, enum dh_goal_status *kept, size_t n, bool is_first, bool is_last)
{
    for (size_t i = 0; i < n; i++) {
        kept[i] = is_first ? goals[i].verdict : both(kept[i], goals[i].verdict);
        goals[i].verdict = is_last || kept[i] == DH_GOAL_PROVEN ? kept[i] : DH_GOAL_OPEN;
    }
}

static bool campaigns(struct dh_subject *s, struct dh_campaign_options o, struct dh_goal *goals, size_t n,
                      const struct dh_campaign_host *host, struct dh_campaign_result *out, struct dh_err *err)
{
    size_t children = s->children.at.n, best = 0;
    unsigned most = 0;
    uint64_t until = dh_now_ns() + o.budget_ns;
    enum dh_goal_status *kept = dh_xcalloc(n + 1, sizeof *kept);
    bool ok = true;
    for (size_t i = 0; ok && i < children; i++) {
        struct dh_campaign_result r = {0};
        uint64_t now = dh_now_ns();
        o.budget_ns = now < until ? (until - now) / (children - i) : 1;
        ok = dh_follow_child(s, &s->children.at.at[i], err) && dh_campaign(s, &o, goals, n, host, &r, err);
        add_result(out, &r, i == 0);
        merge_goals(goals, kept, n, i == 0, i + 1 == children);
        if (r.proven > most) {
            most = r.proven;
            best = i;
        }
        dh_campaign_result_release(&r);
    }
    free(kept);
    return ok && dh_follow_child(s, &s->children.at.at[best], err);
}

bool dh_children_campaign(struct dh_subject *s, const struct dh_campaign_options *o, struct dh_goal *goals, size_t n,
                          const struct dh_campaign_host *host, struct dh_campaign_result *out, struct dh_err *err)
{
    if (!s->children.at.n) {
        bool ok = dh_campaign(s, o, goals, n, host, out, err);
        if (!ok || !out->no_threads || !s->children.at.n)
            return ok;
        dh_campaign_result_release(out);
    }
    for (size_t i = 0; i < n; i++)
        goals[i].verdict = DH_GOAL_OPEN;
    *out = (struct dh_campaign_result){0};
    return campaigns(s, *o, goals, n, host, out, err);
}
