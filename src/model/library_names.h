/* Classes of the C++ library by mangled function names. Layer: model. */
#ifndef DH_MODEL_LIBRARY_NAMES_H
#define DH_MODEL_LIBRARY_NAMES_H

#include <stdbool.h>

/* Of namespace std or __gnu_cxx, instantiated templates too. */
bool dh_is_library_function(const char *mangled);

enum dh_library_class {
    DH_LIBRARY_OTHER,
    DH_LIBRARY_OWNER,        /* owns objects outside of itself: vector, map, unique_ptr */
    DH_LIBRARY_SHARED_OWNER, /* shared ownership: shared_ptr, function */
    DH_LIBRARY_VALUE,        /* contains its parts: optional, pair, array */
    DH_LIBRARY_LOCK_GUARD    /* refers to the lock that its constructor acquires */
};
/* The class of a member function. Its members access only the object, what it owns and their arguments, and start no
 * threads; only guards use locks. */
enum dh_library_class dh_library_class_of_member(const char *mangled);

/* An object that is accessed as a whole: ir/model_library_objects.c. */
static inline bool dh_library_is_object(enum dh_library_class class)
{
    return class == DH_LIBRARY_OWNER || class == DH_LIBRARY_SHARED_OWNER || class == DH_LIBRARY_VALUE;
}

#endif
