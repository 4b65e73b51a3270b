/* How an instrumented shared library finds the runtime in the executable: a table of the hooks, exported as
 * __dh_runtime_hooks. Layer: runtime, on both sides. Constant. */
#ifndef DH_RUNTIME_CORE_HOOK_TABLE_H
#define DH_RUNTIME_CORE_HOOK_TABLE_H

#include "event/hooks.h"
#include "runtime/core/thread_state.h"

#include <stddef.h>
#include <stdint.h>

#define DH_HOOKS_VERSION 3

struct dh_hook_table {
    uint32_t version; /* DH_HOOKS_VERSION */
    uint32_t size;    /* of the table in bytes; an older library may use the beginning of a longer one */
#define DH_HOOK(result, name, parameters, arguments, noop) result(*name) parameters;
#include "runtime/core/hook_list.def"
#undef DH_HOOK
};

#define DH_HOOK(result, name, parameters, arguments, noop)                                                             \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&__dh_##name), result(*) parameters),                       \
                   "hook_list.def and event/hooks.h disagree on " #name);
#include "runtime/core/hook_list.def"
#undef DH_HOOK

#endif
