/* The environment as the kernel laid it on the stack, read and changed in place before anybody else has seen it.
 * Layer: runtime. Names end with "=". At the start only: one thread. */
#ifndef DH_RUNTIME_PLATFORM_ENVIRONMENT_H
#define DH_RUNTIME_PLATFORM_ENVIRONMENT_H

#include "runtime/platform/bytes.h"

static inline char **dh_environment_slot(char **envp, const char *name_and_equals)
{
    for (; envp && *envp; envp++)
        if (dh_text_after(*envp, name_and_equals))
            return envp;
    return NULL;
}

static inline const char *dh_environment_find(char **envp, const char *name_and_equals)
{
    char **slot = dh_environment_slot(envp, name_and_equals);
    return slot ? dh_text_after(*slot, name_and_equals) : NULL;
}

static inline void dh_environment_remove(char **slot)
{
    if (slot)
        do
            slot[0] = slot[1];
        while (*slot++);
}

/* The value of what is meant for us alone, or NULL; children do not get it. */
static inline const char *dh_environment_take(char **envp, const char *name_and_equals)
{
    const char *value = dh_environment_find(envp, name_and_equals);
    dh_environment_remove(dh_environment_slot(envp, name_and_equals));
    return value;
}

#endif
