/* The hooks of an instrumented shared library: hidden, so that neither -Bsymbolic nor a version script nor -z defs
 * matters. Until the executable turns out to carry a runtime, and for good in a foreign process, they only do what the
 * program itself asked for: atomics are performed, everything else is empty. */
#include "runtime/core/hook_table.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/native_atomics.h"

#include <link.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

__attribute__((weak, visibility("default"))) extern const struct dh_hook_table __dh_runtime_hooks;

#define DH_HOOK(result, name, parameters, arguments, noop)                                                             \
    static result noop_##name parameters                                                                               \
    {                                                                                                                  \
        return noop;                                                                                                   \
    }
#include "runtime/core/hook_list.def"
#undef DH_HOOK

static struct dh_hook_table hooks = {
#define DH_HOOK(result, name, parameters, arguments, noop) .name = noop_##name,
#include "runtime/core/hook_list.def"
#undef DH_HOOK
};

static uint32_t place_base;
#define DH_PLACE (place + place_base)
#define DH_HOOK(result, name, parameters, arguments, noop)                                                             \
    __attribute__((visibility("hidden"))) result __dh_##name parameters                                                \
    {                                                                                                                  \
        return hooks.name arguments;                                                                                   \
    }
#include "runtime/core/hook_list.def"
#undef DH_HOOK

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static const char *code_end(void)
{
    const char *base = (const char *)&__ehdr_start;
    const ElfW(Phdr) *p = (const void *)(base + __ehdr_start.e_phoff);
    uintptr_t end = 0;
    for (int i = 0; i < __ehdr_start.e_phnum; i++)
        if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X && p[i].p_vaddr + p[i].p_memsz > end)
            end = p[i].p_vaddr + p[i].p_memsz;
    return base + end;
}

static void connect(void)
{
    const struct dh_hook_table *runtime = &__dh_runtime_hooks;
    if (!runtime || runtime->version != DH_HOOKS_VERSION || runtime->size < sizeof hooks)
        return;
    place_base = runtime->join(&__ehdr_start, code_end());
    hooks = *runtime;
    hooks.entries(&(struct dh_hook_entries){(const void *)__dh_before, (const void *)__dh_after,
                                            (const void *)__dh_enter, (const void *)__dh_leave});
}

/* Before every constructor of the library; a call even earlier meets the empty hooks. */
__attribute__((section(".init_array.00000"), used)) static void (*const connect_early)(void) = connect;
