/* event/hooks.h as the executable's runtime defines them: visible whatever the default is. Layer: runtime.
 * Include first. */
#ifndef DH_RUNTIME_CORE_PUBLIC_HOOKS_H
#define DH_RUNTIME_CORE_PUBLIC_HOOKS_H

#pragma GCC visibility push(default)
#include "event/hooks.h"
#pragma GCC visibility pop

#endif
