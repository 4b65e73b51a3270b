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

const char *dh_sync_class_name(unsigned c)
{
    static const char *const names[DH_SYNC_CLASS_COUNT] = {
        [DH_SYNC_OTHER] = "other",   [DH_SYNC_BARRIER] = "barrier", [DH_SYNC_SEMAPHORE] = "semaphore",
        [DH_SYNC_ONCE] = "once",     [DH_SYNC_CHANNEL] = "channel", [DH_SYNC_ANNOTATION] = "annotation",
        [DH_SYNC_THREAD] = "thread", [DH_SYNC_SIGNAL] = "signal",
    };
    return names[c < DH_SYNC_CLASS_COUNT ? c : DH_SYNC_OTHER];
}

const char *dh_memory_region_name(unsigned region)
{
    static const char *const names[] = {[DH_MEMORY_HEAP] = "heap",
                                        [DH_MEMORY_MAPPED] = "mapped",
                                        [DH_MEMORY_STACK] = "stack",
                                        [DH_MEMORY_TLS] = "tls",
                                        [DH_MEMORY_GLOBAL] = "global"};
    return names[region < sizeof names / sizeof *names ? region : DH_MEMORY_HEAP];
}
