/* Libraries that runs of a program were seen to open by dlopen: no file says it before. Layer: driver. A list in the
 * cache for each build of a program, one absolute path a line; "? HASH" says that a run with these words was looked at.
 */
#ifndef DH_DRIVER_OPENED_LIBRARIES_H
#define DH_DRIVER_OPENED_LIBRARIES_H

#include "host/err.h"

#include <stdbool.h>

/* Was a run with these arguments looked at, or can the program not open any? */
bool dh_opened_libraries_known(const char *program, char *const *argv);
/* A run was looked at. */
void dh_opened_libraries_looked(const char *program, char *const *argv);
/* False: it is known, or is no file. */
bool dh_opened_libraries_add(const char *program, const char *path);
void dh_opened_libraries_each(const char *program, void (*fn)(void *arg, const char *path), void *arg);

#endif
