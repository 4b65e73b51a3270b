#include "analysis/heuristics.h"

#include "analysis/alias_filter.h"
#include "analysis/library_internals.h"

void dh_heuristics_init(struct dh_heuristics *c, struct dh_symex *w)
{
    c->symex = w;
    dh_ownership_transfer_init(&c->ownership, w);
    dh_wait_order_init(&c->wait_order, w);
    dh_publication_init(&c->published, w);
}

void dh_heuristics_release(struct dh_heuristics *c)
{
    dh_ownership_transfer_release(&c->ownership);
    dh_wait_order_release(&c->wait_order);
    dh_publication_release(&c->published);
}

enum dh_argument dh_heuristics_argue(struct dh_heuristics *c, const struct dh_symex_event *a,
                                     const struct dh_symex_event *b)
{
    if (dh_event_in_library_internals(c->symex, a) && dh_event_in_library_internals(c->symex, b))
        return DH_ARGUMENT_LIBRARY_INTERNALS;
    if (dh_ownership_is_transferred(&c->ownership, a, b) && !dh_wait_order_ends_ownership(&c->wait_order, a, b))
        return DH_ARGUMENT_OWNERSHIP_TRANSFER;
    if (dh_wait_order_separates(&c->wait_order, a, b))
        return DH_ARGUMENT_WAIT_ORDER;
    if (dh_publication_orders(&c->published, a, b))
        return DH_ARGUMENT_PUBLICATION;
    return dh_events_never_alias(c->symex, a, b) ? DH_ARGUMENT_OBJECTS : DH_ARGUMENT_COUNT;
}
