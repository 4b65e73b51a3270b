#include "runtime/core/public_hooks.h"

#include "runtime/core/hook_table.h"

extern const struct dh_hook_table __dh_runtime_hooks;

__attribute__((visibility("default"), used)) const struct dh_hook_table __dh_runtime_hooks = {
    .version = DH_HOOKS_VERSION,
    .size = sizeof(struct dh_hook_table),
#define DH_HOOK(result, name, parameters, arguments, noop) .name = __dh_##name,
#include "runtime/core/hook_list.def"
#undef DH_HOOK
};
