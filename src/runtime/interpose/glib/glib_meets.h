/* Order through an object inside GLib. Layer: runtime. */
#ifndef DH_RUNTIME_INTERPOSE_GLIB_GLIB_MEETS_H
#define DH_RUNTIME_INTERPOSE_GLIB_GLIB_MEETS_H

#include "runtime/interpose/glib/glib.h"

/* What the thread did happens before what others do who have met there afterwards; with the engine a step of its own,
 * if it is to be one. */
void dh_glib_meet(const void *object, bool is_step);
/* All who came to the object so far happened before. */
void dh_glib_met(const void *object);

#endif
