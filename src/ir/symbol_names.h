/* Source names of globals without debug information, from their mangled symbols. Layer: ir. Stateless. */
#ifndef DH_IR_SYMBOL_NAMES_H
#define DH_IR_SYMBOL_NAMES_H

#include "base/arena.h"
#include "base/map.h"

#include <stdbool.h>

/* "_ZN2ns5totalE" -> "ns::total"; what it does not understand comes back as it is. `artificial` is set for guard
 * variables, vtables and type information. */
const char *dh_symbol_source_name(struct dh_arena *a, const char *symbol, bool *artificial);

#endif
