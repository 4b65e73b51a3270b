/* What a program is when no instrumented module says otherwise. In a file of its own, so that no compiler reads
 * the values at the place of their use. */
#include "runtime/core/start.h"

__attribute__((weak)) const char __dh_variant[] = "check";
__attribute__((weak)) const uint8_t __dh_module_id[16] = {0};
__attribute__((weak)) const uint32_t __dh_site_count = 0;
__attribute__((weak)) const char __dh_tool[] = "";
