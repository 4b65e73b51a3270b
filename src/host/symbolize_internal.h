/* Shared by the files of the symbolizer. Layer: host (elfutils). */
#ifndef DH_HOST_SYMBOLIZE_INTERNAL_H
#define DH_HOST_SYMBOLIZE_INTERNAL_H

#include "host/symbolize.h"

#include <elfutils/libdwfl.h>

/* NULL: cannot be read. */
Dwfl_Module *dh_symbolizer_open(struct dh_symbolizer *s, const char *path);
/* Name with its scopes, owned by the caller. */
char *dh_die_name(Dwarf_Die *die);
/* Without the suffix that driver/partition.c adds to local names used by several parts. Owned by the caller. */
char *dh_symbol_in_source(const char *symbol);

#endif
