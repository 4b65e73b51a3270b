/* The shared libraries that a program loads, by ld.so's search order (DT_NEEDED, run paths), without running it, and
 * those that earlier runs were seen to open. Layer: driver. */
#ifndef DH_DRIVER_LIBRARIES_H
#define DH_DRIVER_LIBRARIES_H

#include "event/site.h"
#include "host/err.h"

#include <stdbool.h>

/* Calls fn for each library, direct and indirect, once; path is NULL when it was not found. */
bool dh_libraries_each(const char *program,
                       void (*fn)(void *arg, const char *name, const char *path, bool instrumented), void *arg,
                       struct dh_err *err);
/* The sites of the program and of each instrumented library that was found; unreadable ones are skipped. */
bool dh_site_tables_each(const char *program, void (*fn)(void *arg, const struct dh_site_table *sites), void *arg,
                         struct dh_err *err);

#endif
