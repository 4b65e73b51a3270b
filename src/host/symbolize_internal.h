/* What the parts of the symbolizer share. Layer: host (elfutils). */
#ifndef DH_HOST_SYMBOLIZE_INTERNAL_H
#define DH_HOST_SYMBOLIZE_INTERNAL_H

#include "host/symbolize.h"

#include <elfutils/libdwfl.h>

/* NULL: cannot be read. */
Dwfl_Module *dh_symbolizer_open(struct dh_symbolizer *s, const char *path);
/* Name with its scopes, owned by the caller. */
char *dh_die_name(Dwarf_Die *die);
/* Without what the link step adds to local names that several parts of the program use. Owned by the caller. */
char *dh_symbol_in_source(const char *symbol);

#endif
