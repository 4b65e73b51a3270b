/* What the Itanium C++ ABI says of a symbol by its mangled name. Layer: model. No memory. */
#ifndef DH_MODEL_MANGLED_NAMES_H
#define DH_MODEL_MANGLED_NAMES_H

#include <stdbool.h>

bool dh_mangled_is_vtable(const char *name);
/* A vtable, one that an object has while it is constructed, or a table of such. */
bool dh_mangled_is_any_vtable(const char *name);
/* A vtable or type information: constant. */
bool dh_mangled_is_type_data(const char *name);
bool dh_mangled_is_thunk(const char *name);
/* Says whether a static variable of a function is initialised. */
bool dh_mangled_is_static_guard(const char *name);
bool dh_mangled_is_constructor_or_destructor(const char *name);

#endif
