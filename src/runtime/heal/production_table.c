/* The hook table of a production build for its shared libraries: hooks that heal; all others do nothing. */
#include "runtime/core/public_hooks.h"

#include "runtime/core/hook_table.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/native_atomics.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Woverride-init"

extern const struct dh_hook_table __dh_runtime_hooks;

#define DH_HOOK(result, name, parameters, arguments, noop)                                                             \
    static result noop_##name parameters                                                                               \
    {                                                                                                                  \
        return noop;                                                                                                   \
    }
#include "runtime/core/hook_list.def"
#undef DH_HOOK

__attribute__((visibility("default"), used)) const struct dh_hook_table __dh_runtime_hooks = {
    .version = DH_HOOKS_VERSION,
    .size = sizeof(struct dh_hook_table),
#define DH_HOOK(result, name, parameters, arguments, noop) .name = noop_##name,
#include "runtime/core/hook_list.def"
#undef DH_HOOK
    .heal_open = __dh_heal_open,
    .heal_close = __dh_heal_close,
    .heal_enter = __dh_heal_enter,
    .heal_leave = __dh_heal_leave,
    .heal_await = __dh_heal_await,
    .heal_happened = __dh_heal_happened,
    .heal_wait = __dh_heal_wait,
    .heal_return = __dh_heal_return,
    .heal_again = __dh_heal_again,
    .heal_open_at = __dh_heal_open_at,
    .heal_enter_at = __dh_heal_enter_at,
    .heal_leave_at = __dh_heal_leave_at,
};
