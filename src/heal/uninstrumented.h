/* Variables that uninstrumented code may access, since a library without hooks names them. Layer: heal. */
#ifndef DH_HEAL_UNINSTRUMENTED_H
#define DH_HEAL_UNINSTRUMENTED_H

#include "base/names.h"
#include "host/err.h"

#include <stdbool.h>

/* Adds the variables that libraries of the program, found as the dynamic linker would, use or define. One that is not
 * found says nothing. */
bool dh_variables_named_outside(const char *program, struct dh_names *out, struct dh_err *err);

#endif
