/* Activations of functions, notified by instrumented code. Layer: runtime. Each thread counts its own; what they mean
 * is the recorder's and the consistency detector's business. A token is the number of activations that were open
 * before, so that leaving ends all that were entered since: after longjmp and exceptions nothing stays open
 * for longer than the function that caught it. */
#ifndef DH_RUNTIME_CORE_SCOPES_H
#define DH_RUNTIME_CORE_SCOPES_H

#include <stdint.h>

/* The hooks, for the parts of them that are inlined. */
uint32_t dh_scope_enter(const void *object, uint32_t place);
void dh_scope_leave(uint32_t token);

#endif
