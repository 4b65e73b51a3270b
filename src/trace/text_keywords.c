#include "trace/text_keywords.h"

const struct dh_text_keyword dh_text_flags[] = {
    {"shared", DH_EVENT_SHARED},   {"try", DH_EVENT_TRY},     {"again", DH_EVENT_AGAIN},
    {"wait", DH_EVENT_WAIT},       {"timed", DH_EVENT_TIMED}, {"library", DH_EVENT_BY_LIBRARY},
    {"foreign", DH_EVENT_FOREIGN}, {"wrote", DH_EVENT_WROTE}, {NULL, 0}};

const struct dh_text_keyword dh_text_orders[] = {{"none", DH_ORDER_NONE},
                                                 {"relaxed", DH_ORDER_RELAXED},
                                                 {"acquire", DH_ORDER_ACQUIRE},
                                                 {"release", DH_ORDER_RELEASE},
                                                 {"acq_rel", DH_ORDER_ACQ_REL},
                                                 {"seq_cst", DH_ORDER_SEQ_CST},
                                                 {NULL, 0}};

const struct dh_text_keyword dh_text_ops[] = {{"load", DH_OP_ATOMIC_LOAD},
                                              {"store", DH_OP_ATOMIC_STORE},
                                              {"rmw", DH_OP_ATOMIC_RMW},
                                              {"cas", DH_OP_ATOMIC_CAS},
                                              {"cas-failed", DH_OP_ATOMIC_CAS | DH_TEXT_CAS_FAILED},
                                              {NULL, 0}};

const struct dh_text_keyword dh_text_classes[] = {
    {"other", DH_SYNC_OTHER},   {"barrier", DH_SYNC_BARRIER}, {"semaphore", DH_SYNC_SEMAPHORE},
    {"once", DH_SYNC_ONCE},     {"channel", DH_SYNC_CHANNEL}, {"annotation", DH_SYNC_ANNOTATION},
    {"thread", DH_SYNC_THREAD}, {"signal", DH_SYNC_SIGNAL},   {NULL, 0}};

const struct dh_text_keyword dh_text_regions[] = {{"heap", DH_MEMORY_HEAP},     {"mapped", DH_MEMORY_MAPPED},
                                                  {"stack", DH_MEMORY_STACK},   {"tls", DH_MEMORY_TLS},
                                                  {"global", DH_MEMORY_GLOBAL}, {NULL, 0}};

const char *dh_text_keyword_of(const struct dh_text_keyword *words, unsigned value)
{
    for (; words->name; words++)
        if (words->value == value)
            return words->name;
    return NULL;
}

enum dh_text_object dh_text_object_of(unsigned kind)
{
    static const uint8_t objects[DH_EVENT_COUNT] = {
        [DH_EVENT_READ] = DH_OBJECT_MEMORY,
        [DH_EVENT_WRITE] = DH_OBJECT_MEMORY,
        [DH_EVENT_ATOMIC] = DH_OBJECT_MEMORY,
        [DH_EVENT_ALLOC] = DH_OBJECT_MEMORY,
        [DH_EVENT_FREE] = DH_OBJECT_MEMORY,
        [DH_EVENT_LOCK] = DH_OBJECT_MEMORY,
        [DH_EVENT_UNLOCK] = DH_OBJECT_MEMORY,
        [DH_EVENT_LOCK_WAIT] = DH_OBJECT_MEMORY,
        [DH_EVENT_LOCK_INIT] = DH_OBJECT_MEMORY,
        [DH_EVENT_LOCK_DESTROY] = DH_OBJECT_MEMORY,
        [DH_EVENT_COND_WAIT] = DH_OBJECT_MEMORY,
        [DH_EVENT_COND_WOKEN] = DH_OBJECT_MEMORY,
        [DH_EVENT_COND_SIGNAL] = DH_OBJECT_MEMORY,
        [DH_EVENT_COND_BROADCAST] = DH_OBJECT_MEMORY,
        [DH_EVENT_ACQUIRE] = DH_OBJECT_MEMORY,
        [DH_EVENT_RELEASE] = DH_OBJECT_MEMORY,
        [DH_EVENT_RELEASE_JOIN] = DH_OBJECT_MEMORY,
        [DH_EVENT_ACQUIRE_RELEASE] = DH_OBJECT_MEMORY,
        [DH_EVENT_FORGET] = DH_OBJECT_MEMORY,
        [DH_EVENT_BLOCK] = DH_OBJECT_MAYBE,
        [DH_EVENT_UNBLOCK] = DH_OBJECT_MAYBE,
        [DH_EVENT_THREAD_CREATE] = DH_OBJECT_THREAD,
        [DH_EVENT_THREAD_JOIN] = DH_OBJECT_THREAD,
        [DH_EVENT_THREAD_DETACH] = DH_OBJECT_THREAD,
        [DH_EVENT_THREAD_BEGIN] = DH_OBJECT_MAYBE_THREAD,
        [DH_EVENT_THREAD_END] = DH_OBJECT_MAYBE_THREAD,
        [DH_EVENT_ENTER] = DH_OBJECT_MAYBE,
        [DH_EVENT_LEAVE] = DH_OBJECT_MAYBE,
        [DH_EVENT_COLLISION] = DH_OBJECT_MEMORY,
        [DH_EVENT_COLLISION_WITH] = DH_OBJECT_MEMORY,
        [DH_EVENT_INTERLEAVED] = DH_OBJECT_MEMORY,
        [DH_EVENT_INTERLEAVED_WITH] = DH_OBJECT_MEMORY,
    };
    return kind < DH_EVENT_COUNT ? objects[kind] : DH_OBJECT_NONE;
}

static unsigned lock_op(unsigned flags)
{
    static const uint8_t ops[2][2] = {{DH_OP_LOCK, DH_OP_TRYLOCK}, {DH_OP_RDLOCK, DH_OP_TRYRDLOCK}};
    return ops[!!(flags & DH_EVENT_SHARED)][!!(flags & DH_EVENT_TRY)];
}

static unsigned class_op(unsigned c, unsigned kind)
{
    static const uint8_t ops[DH_SYNC_CLASS_COUNT] = {
        [DH_SYNC_BARRIER] = DH_OP_BARRIER_WAIT, [DH_SYNC_ONCE] = DH_OP_ONCE, [DH_SYNC_THREAD] = DH_OP_THREAD_JOIN};
    if (c == DH_SYNC_SEMAPHORE)
        return kind == DH_EVENT_RELEASE || kind == DH_EVENT_RELEASE_JOIN ? DH_OP_SEM_POST : DH_OP_SEM_WAIT;
    return c < DH_SYNC_CLASS_COUNT && ops[c] ? ops[c] : DH_OP_SYNC_OTHER;
}

unsigned dh_text_op_of(const struct dh_event *e)
{
    static const uint8_t ops[DH_EVENT_COUNT] = {[DH_EVENT_READ] = DH_OP_READ,
                                                [DH_EVENT_WRITE] = DH_OP_WRITE,
                                                [DH_EVENT_FENCE] = DH_OP_FENCE,
                                                [DH_EVENT_ALLOC] = DH_OP_ALLOC,
                                                [DH_EVENT_FREE] = DH_OP_FREE,
                                                [DH_EVENT_UNLOCK] = DH_OP_UNLOCK,
                                                [DH_EVENT_LOCK_INIT] = DH_OP_LOCK_INIT,
                                                [DH_EVENT_LOCK_DESTROY] = DH_OP_LOCK_DESTROY,
                                                [DH_EVENT_COND_WAIT] = DH_OP_COND_WAIT,
                                                [DH_EVENT_COND_WOKEN] = DH_OP_COND_WAIT,
                                                [DH_EVENT_COND_SIGNAL] = DH_OP_COND_SIGNAL,
                                                [DH_EVENT_COND_BROADCAST] = DH_OP_COND_BROADCAST,
                                                [DH_EVENT_THREAD_CREATE] = DH_OP_THREAD_CREATE,
                                                [DH_EVENT_THREAD_JOIN] = DH_OP_THREAD_JOIN,
                                                [DH_EVENT_THREAD_DETACH] = DH_OP_THREAD_DETACH,
                                                [DH_EVENT_THREAD_END] = DH_OP_THREAD_EXIT};
    unsigned group = dh_event_info(e->kind)->group;
    if (e->kind == DH_EVENT_ATOMIC)
        return dh_event_atomic_op(e);
    if (e->kind == DH_EVENT_LOCK || e->kind == DH_EVENT_LOCK_WAIT)
        return lock_op(e->flags);
    if (group == DH_EVENTS_COLLISION)
        return e->flags & DH_EVENT_WROTE ? DH_OP_WRITE : DH_OP_READ;
    if (group == DH_EVENTS_ORDER || group == DH_EVENTS_WAIT)
        return class_op((unsigned)e->arg, e->kind);
    return e->kind < DH_EVENT_COUNT ? ops[e->kind] : DH_OP_NONE;
}
