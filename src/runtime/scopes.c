#include "runtime/public_hooks.h"

#include "runtime/scopes.h"

#include "runtime/thread_state.h"

uint32_t __dh_scope_enter(const void *object, uint32_t place)
{
    struct dh_thread_state *t = &__dh_thread;
    uint32_t token = t->scopes++;
    if (dh_record_scope_enter)
        dh_record_scope_enter(object, place);
    return token;
}

void __dh_scope_leave(uint32_t token)
{
    struct dh_thread_state *t = &__dh_thread;
    while (t->scopes > token) {
        t->scopes--;
        if (dh_record_scope_leave)
            dh_record_scope_leave();
    }
}
