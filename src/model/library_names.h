/* What the mangled name of a C++ function says of its place in the library. Layer: model. */
#ifndef DH_MODEL_LIBRARY_NAMES_H
#define DH_MODEL_LIBRARY_NAMES_H

#include <stdbool.h>

/* Of namespace std or __gnu_cxx: also templates that the program has made its own copies of. */
bool dh_is_of_library(const char *mangled);

enum dh_library_class {
    DH_LIBRARY_OTHER,
    DH_LIBRARY_HOLDER, /* keeps what it owns elsewhere: vector, map, unique_ptr */
    DH_LIBRARY_SHARER, /* others may hold the same: shared_ptr, function */
    DH_LIBRARY_INLINE, /* keeps it inside: optional, pair, array */
    DH_LIBRARY_GUARD   /* keeps a reference to the lock that its maker names */
};
/* The class that a member function belongs to. Nothing of it does more than its own object, what that holds and the
 * arguments need: no threads, no locks but a guard's. */
enum dh_library_class dh_library_class_of(const char *mangled);

/* An object that is accessed as a whole: ir/model_library_objects.c. */
static inline bool dh_library_is_object(enum dh_library_class class)
{
    return class == DH_LIBRARY_HOLDER || class == DH_LIBRARY_SHARER || class == DH_LIBRARY_INLINE;
}

#endif
