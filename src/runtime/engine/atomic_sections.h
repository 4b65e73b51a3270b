/* Sections that are meant to be atomic, and whether a schedule is as if they were. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_ATOMIC_SECTIONS_H
#define DH_RUNTIME_ENGINE_ATOMIC_SECTIONS_H

#include "runtime/engine/engine.h"

bool dh_atomic_sections_init(void);
void dh_atomic_sections_begin(void);
/* The current task was chosen for this access, whose place has marks (event/engine.h), and will make it now. */
void dh_atomic_sections_access(const struct dh_step *s, dh_engine_marks marks);

#endif
