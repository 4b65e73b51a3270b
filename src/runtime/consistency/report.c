#include "runtime/consistency/report.h"

#include "base/hash.h"
#include "runtime/core/context.h"
#include "runtime/race/internal.h"
#include "runtime/record/record.h"
#include "runtime/report/report.h"
#include "runtime/report/vector_state.h"

#include <stdatomic.h>

enum { REPORTED = 1024 };

/* In a loop the same violation recurs: skipped if its key is in the table. Lossy: entries replace each other. */
static bool is_new(const struct dh_collision *c)
{
    static _Atomic uint64_t reported[REPORTED];
    uint64_t key = c->kind;
    const uint32_t places[] = {c->before, c->other, c->here};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        key = dh_hash_combine(key, places[i]);
    return atomic_exchange(&reported[key >> 54], key) != key;
}

static struct dh_report_access access_of(const struct dh_collision *c, uint32_t thread, uint32_t place, bool writes)
{
    struct dh_report_access a = {.thread = thread, .flags = writes ? DH_LOG_WRITE : 0, .addr = c->addr};
    a.size = c->size;
    a.module = dh_module_of_place(&place);
    a.place = place;
    return a;
}

static void record(const struct dh_collision *c)
{
    unsigned suspected = c->kind != DH_COLLISION_INTERLEAVED ? DH_EVENT_TRY : 0;
    uint64_t other = (uint64_t)c->thread << 32 | c->size, self = (uint64_t)__dh_thread.index << 32 | c->size;
    dh_record_event_at(DH_EVENT_INTERLEAVED, suspected | (c->here_writes ? 0 : DH_EVENT_SHARED), c->addr, other,
                       c->here);
    dh_record_event_at(DH_EVENT_INTERLEAVED_WITH, c->other_writes ? 0 : DH_EVENT_SHARED, c->addr, other, c->other);
    dh_record_event_at(DH_EVENT_INTERLEAVED_WITH, DH_EVENT_AGAIN | (c->before_writes ? 0 : DH_EVENT_SHARED), c->addr,
                       self, c->before);
}

void dh_consistency_report(const struct dh_collision *c)
{
    if (!is_new(c))
        return;
    record(c);
    uint32_t self = __dh_thread.index;
    struct dh_report_access accesses[] = {access_of(c, self, c->before, c->before_writes),
                                          access_of(c, c->thread, c->other, c->other_writes),
                                          access_of(c, self, c->here, c->here_writes)};
    struct dh_report r = {.kind = DH_FINDING_ATOMICITY,
                          .suspected = c->kind != DH_COLLISION_INTERLEAVED,
                          .detector = "consistency",
                          .access = accesses,
                          .n_accesses = 3,
                          .addr = c->addr,
                          .size = c->size,
                          .text = dh_collision_text(c)};
    accesses[0].note = "first in the function's call";
    accesses[2].note = "in the same call";
    accesses[2].context = dh_context_intern(&__dh_thread);
    if (dh_report_is_known(&r))
        return;
    struct dh_heap_block block;
    if (dh_race_on && dh_heap_block_around(r.addr, &block))
        dh_report_set_block(&r, &block);
    struct dh_vector_state saved;
    dh_vector_save(&saved);
    dh_report(&r);
    dh_vector_restore(&saved);
}
