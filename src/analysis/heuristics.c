#include "analysis/heuristics.h"

#include "analysis/alias_filter.h"
#include "analysis/library_internals.h"

void dh_customs_init(struct dh_customs *c, struct dh_symex *w)
{
    c->symex = w;
    dh_handed_init(&c->handed, w);
    dh_waited_init(&c->waited, w);
    dh_published_init(&c->published, w);
}

void dh_customs_release(struct dh_customs *c)
{
    dh_handed_release(&c->handed);
    dh_waited_release(&c->waited);
    dh_published_release(&c->published);
}

enum dh_argument dh_customs_argue(struct dh_customs *c, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    if (dh_event_in_library_internals(c->symex, a) && dh_event_in_library_internals(c->symex, b))
        return DH_ARGUMENT_INSIDE;
    if (dh_handed_apart(&c->handed, a, b) && !dh_waited_late(&c->waited, a, b))
        return DH_ARGUMENT_HANDED_ON;
    if (dh_waited_apart(&c->waited, a, b))
        return DH_ARGUMENT_WAITED;
    if (dh_published_apart(&c->published, a, b))
        return DH_ARGUMENT_PUBLISHED;
    return dh_events_never_alias(c->symex, a, b) ? DH_ARGUMENT_OBJECTS : DH_ARGUMENT_COUNT;
}
