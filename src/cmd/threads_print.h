/* Shows a threads file, which the runtime writes at exit (DEADHEAT_OPTIONS=threads_file=PATH). Layer: cmd.
 * The file: a line "deadheat-threads 1", then a line per thread in order of creation, fields separated by tabs:
 *   index, name, parent's index or -, running|finished|joined|detached|absent, kernel id, and the stack of its
 *   creation as return addresses, innermost first, each PATH+0xOFFSET (OFFSET as the file at PATH has it; PATH "?"
 *   for an absolute address in no known file).
 * Control characters and backslashes are \xNN. Lines that start with # are remarks. */
#ifndef DH_CMD_THREADS_PRINT_H
#define DH_CMD_THREADS_PRINT_H

#include "host/err.h"

#include <stdbool.h>
#include <stdio.h>

/* One paragraph per thread: name, state, creator, and the stack of its creation in source places. */
bool dh_threads_print(const char *path, FILE *out, struct dh_err *err);

#endif
