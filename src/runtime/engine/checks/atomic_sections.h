/* Atomicity violations: is a schedule conflict-serialisable with respect to sections that are meant to be atomic?
 * Layer: runtime. In KEEP memory. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_ATOMIC_SECTIONS_H
#define DH_RUNTIME_ENGINE_CHECKS_ATOMIC_SECTIONS_H

#include "runtime/engine/engine.h"

bool dh_atomic_sections_init(void);
void dh_atomic_sections_begin(void);
/* The current task is about to make this access; its place has marks (event/engine.h). */
void dh_atomic_sections_access(const struct dh_step *s, dh_engine_marks marks);

#endif
