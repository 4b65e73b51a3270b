/* Results that are there when the thread has ended (std::promise::set_value_at_thread_exit, std::packaged_task
 * likewise): libstdc++ makes them ready inside the library, by an atomic store that nobody sees, so it is announced
 * before. */
#include "runtime/core/thread_state.h"
#include "runtime/interpose/interpose.h"
#include "runtime/platform/native_atomics.h"

#include <dlfcn.h>

/* The layouts are part of libstdc++'s ABI. */
struct shared_state {
    void *vtable, *result;
    uint32_t status; /* that threads wait for */
};

struct shared_count {
    void (*const *vtable)(struct shared_count *);
    int32_t uses, weak_uses; /* all uses together are one weak one */
};
enum { DISPOSE = 2, DESTROY = 3 }; /* in its vtable */

struct at_thread_exit {
    struct at_thread_exit *next;
    void (*run)(void *);
    struct shared_state *state; /* with its count a weak pointer */
    struct shared_count *count;
};

extern void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(struct at_thread_exit *exit);

static void (*make_ready)(void *); /* the same for all */

static struct dh_atomic_op announce(void *at, enum dh_op kind, enum dh_order order)
{
    struct dh_atomic_op op = {.addr = (uintptr_t)at,
                              .what = (uint32_t)kind | (uint32_t)order << 8 | (uint32_t)sizeof(int32_t) << 16,
                              .place = DH_PLACE_NONE};
    if (dh_engine_on)
        dh_engine_library_atomic(at, op.what, op.place);
    dh_atomic_enter(&op);
    return op;
}

static void done(struct dh_atomic_op *op, bool wrote)
{
    dh_atomic_leave(op, wrote);
    if (dh_engine_on)
        dh_engine_library_atomic_done((const void *)op->addr, op->what, wrote);
}

/* What std::weak_ptr::lock does. */
static bool hold(struct shared_count *c)
{
    struct dh_atomic_op op = announce(&c->uses, DH_OP_ATOMIC_RMW, DH_ORDER_ACQ_REL);
    int32_t uses = __atomic_load_n(&c->uses, __ATOMIC_RELAXED);
    while (uses && !__atomic_compare_exchange_n(&c->uses, &uses, uses + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
    done(&op, uses);
    return uses;
}

static bool is_last(int32_t *count)
{
    struct dh_atomic_op op = announce(count, DH_OP_ATOMIC_RMW, DH_ORDER_ACQ_REL);
    bool last = __atomic_fetch_sub(count, 1, __ATOMIC_ACQ_REL) == 1;
    done(&op, true);
    return last;
}

static void let_go(struct shared_count *c)
{
    if (!is_last(&c->uses))
        return;
    c->vtable[DISPOSE](c);
    if (is_last(&c->weak_uses))
        c->vtable[DESTROY](c);
}

/* The state is held meanwhile, so that it is not the library that finds itself its last user: nobody would see what
 * that is ordered by. */
static void announce_and_make_ready(void *at)
{
    const struct at_thread_exit *exit = at;
    struct shared_state *state = exit->state;
    struct shared_count *count = exit->count;
    bool held = count && hold(count);
    if (held) {
        struct dh_atomic_op op = announce(&state->status, DH_OP_ATOMIC_STORE, DH_ORDER_RELEASE);
        done(&op, true);
    }
    make_ready(at);
    if (held)
        let_go(count);
}

static void dh_interposed__ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(struct at_thread_exit *exit)
{
    static const char name[] = "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv";
    void (*real)(struct at_thread_exit *) = (__typeof__(real))dlsym(RTLD_NEXT, name);
    if (!real)
        real = (__typeof__(real))dh_real_of_caller(name, DH_CALL_SLOT);
    real(exit);
    make_ready = exit->run;
    exit->run = announce_and_make_ready;
}
DH_INTERPOSE(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv);
