/* Classes of the C++ library by mangled function names: data/models/libstdcxx-names.tsv. Layer: model. */
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
    DH_LIBRARY_LOCK_GUARD,   /* refers to the lock that its constructor acquires */
    DH_LIBRARY_ATOMIC
};
/* The class of a member function. Its members access only the object, what it owns and their arguments, and start no
 * threads; only guards use locks. */
enum dh_library_class dh_library_class_of_member(const char *mangled);

/* An object that is accessed as a whole: ir/model_library_objects.c. */
static inline bool dh_library_is_object(enum dh_library_class class)
{
    return class == DH_LIBRARY_OWNER || class == DH_LIBRARY_SHARED_OWNER || class == DH_LIBRARY_VALUE;
}

/* What a function does to the std::thread objects that it gets. */
enum dh_thread_role {
    DH_THREAD_NONE, /* not known, or it moves a thread out of its object */
    DH_THREAD_READS,
    DH_THREAD_STARTS,
    DH_THREAD_DESTROYS
};
enum dh_thread_role dh_library_thread_role(const char *mangled);
/* The function that a std::thread runs. */
bool dh_library_is_thread_entry(const char *mangled);
/* What programs have copies of; libraries may call these on objects of the program, so they stay instrumented, but they
 * do nothing else. */
bool dh_library_is_copy(const char *mangled);

#endif
