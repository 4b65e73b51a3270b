/* The hooks of an instrumented shared library: hidden, so that neither -Bsymbolic nor a version script nor -z defs
 * matters, and empty until the executable turns out to carry a runtime. In a foreign process they stay empty. */
#include "runtime/hook_table.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

__attribute__((weak, visibility("default"))) extern const struct dh_hook_table __dh_runtime_hooks;

#define DH_HOOK(result, name, parameters, arguments, noop)                                                             \
    static result noop_##name parameters                                                                               \
    {                                                                                                                  \
        return noop;                                                                                                   \
    }
#include "runtime/hook_list.def"
#undef DH_HOOK

static struct dh_hook_table hooks = {
#define DH_HOOK(result, name, parameters, arguments, noop) .name = noop_##name,
#include "runtime/hook_list.def"
#undef DH_HOOK
};

#define DH_HOOK(result, name, parameters, arguments, noop)                                                             \
    __attribute__((visibility("hidden"))) result __dh_##name parameters                                                \
    {                                                                                                                  \
        return hooks.name arguments;                                                                                   \
    }
#include "runtime/hook_list.def"
#undef DH_HOOK

static void connect(void)
{
    const struct dh_hook_table *runtime = &__dh_runtime_hooks;
    if (runtime && runtime->version == DH_HOOKS_VERSION && runtime->size >= sizeof hooks)
        hooks = *runtime;
}

/* Before every constructor of the library; whoever calls in even earlier meets the empty hooks. */
__attribute__((section(".init_array.00000"), used)) static void (*const connect_early)(void) = connect;
