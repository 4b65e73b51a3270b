/* Native frames between a call of ours and the innermost instrumented function. Layer: runtime. Uses the C++
 * run-time library's unwinder when the program has one; for interposed functions only, never for hooks. */
#ifndef DH_RUNTIME_CORE_UNWIND_H
#define DH_RUNTIME_CORE_UNWIND_H

#include <stddef.h>
#include <stdint.h>

/* Return addresses, innermost first, from the one stored at `first` up to before the one stored at `end` (0: to
 * the outermost or `max`). 0 when there is no unwinder or it does not come by both. */
size_t dh_unwind(uintptr_t first, uintptr_t end, uintptr_t *out, size_t max);

#endif
