/* GLib's functions that ours stand before. Layer: runtime. GLib need not be there, and nothing of it is included: its
 * locks and conditions are futexes of its own, so that no lock of libc shows their order. Looked up at the start, or,
 * as the library may come with a dlopen, when one is first called. */
#ifndef DH_RUNTIME_INTERPOSE_GLIB_GLIB_H
#define DH_RUNTIME_INTERPOSE_GLIB_GLIB_H

#include "runtime/interpose/interpose.h"

#include <stddef.h>
#include <stdint.h>

typedef void *(*dh_glib_routine)(void *argument);
typedef void (*dh_glib_work)(void *data, void *user);

#define DH_GLIB_WORDS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f

#define DH_GLIB(result, name, parameters) extern result name parameters;
#include "runtime/interpose/glib/glib_list.def"
#undef DH_GLIB

struct dh_real_glib {
#define DH_GLIB(result, name, parameters) __typeof__(name) *name;
#include "runtime/interpose/glib/glib_list.def"
#undef DH_GLIB
};

extern struct dh_real_glib dh_real_glib;
extern bool dh_glib_known;

void dh_glib_find(void);
/* Part of dh_real_init. */
void dh_glib_init(void);

/* First in every interposed function of this family. */
static inline void dh_glib_ready(void)
{
    dh_interpose_ready();
    if (__builtin_expect(!dh_glib_known, 0))
        dh_glib_find();
}

/* The thread has polled: if a loop of GLib does that in it, all that was added to the loop's context so far happened
 * before what it calls now. */
void dh_glib_polled(void);

#endif
