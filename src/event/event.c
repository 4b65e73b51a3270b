#include "event/event.h"

#include <stddef.h>

static const struct dh_event_info infos[] = {
#define DH_EVENT(id, name, group) {name, DH_EVENTS_##group},
#include "event/event.def"
#undef DH_EVENT
};

const struct dh_event_info *dh_event_info(unsigned kind)
{
    return &infos[kind < DH_EVENT_COUNT ? kind : DH_EVENT_NONE];
}
