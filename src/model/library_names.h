/* What the mangled name of a C++ function says of its place in the library. Layer: model. */
#ifndef DH_MODEL_LIBRARY_NAMES_H
#define DH_MODEL_LIBRARY_NAMES_H

#include <stdbool.h>

/* Of namespace std or __gnu_cxx: also templates that the program has made its own copies of. */
bool dh_is_library_function(const char *mangled);

enum dh_library_class {
    DH_LIBRARY_OTHER,
    DH_LIBRARY_OWNER,        /* keeps what it owns elsewhere: vector, map, unique_ptr */
    DH_LIBRARY_SHARED_OWNER, /* others may hold the same: shared_ptr, function */
    DH_LIBRARY_VALUE,        /* keeps it inside: optional, pair, array */
    DH_LIBRARY_LOCK_GUARD    /* keeps a reference to the lock that its maker names */
};
/* The class that a member function belongs to. Nothing of it does more than its own object, what that holds and the
 * arguments need: no threads, no locks but a guard's. */
enum dh_library_class dh_library_class_of_member(const char *mangled);

/* An object that is accessed as a whole: ir/model_objects.c. */
static inline bool dh_library_is_object(enum dh_library_class class)
{
    return class == DH_LIBRARY_OWNER || class == DH_LIBRARY_SHARED_OWNER || class == DH_LIBRARY_VALUE;
}

#endif
