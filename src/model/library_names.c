#include "model/library_names.h"

#include "base/str.h"

#include <stddef.h>
#include <string.h>

/* After "N" and the qualifiers of the object parameter (const, lvalue, rvalue); NULL: no member. */
static const char *scope_of(const char *encoding)
{
    return *encoding == 'N' ? encoding + 1 + strspn(encoding + 1, "rVKRO") : NULL;
}

bool dh_is_library_function(const char *mangled)
{
    if (!dh_starts_with(mangled, "_Z"))
        return false;
    const char *encoding = mangled + 1 + strspn(mangled + 1, "Z"), *scope = scope_of(encoding); /* local ones, too */
    if (!scope)
        return *encoding == 'S';
    return *scope == 'S' || dh_starts_with(scope, "9__gnu_cxx");
}

enum dh_library_class dh_library_class_of_member(const char *mangled)
{
    static const struct {
        const char *beginning;
        enum dh_library_class class;
    } rows[] = {
#define DH_LIBRARY_CLASS(beginning, class) {beginning, DH_LIBRARY_##class},
#define DH_LIBRARY_THREAD(beginning, role)
#include "library_names.inc"
#undef DH_LIBRARY_CLASS
#undef DH_LIBRARY_THREAD
    };
    const char *at = dh_starts_with(mangled, "_Z") ? scope_of(mangled + 2) : NULL;
    if (!at || !dh_starts_with(at, "St"))
        return DH_LIBRARY_OTHER;
    at += 2;
    if (dh_starts_with(at, "7__cxx11"))
        at += 8;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (dh_starts_with(at, rows[i].beginning))
            return rows[i].class;
    return DH_LIBRARY_OTHER;
}

enum dh_thread_role dh_library_thread_role(const char *mangled)
{
    static const struct {
        const char *beginning;
        enum dh_thread_role role;
    } rows[] = {
#define DH_LIBRARY_CLASS(beginning, class)
#define DH_LIBRARY_THREAD(beginning, role) {beginning, DH_THREAD_##role},
#include "library_names.inc"
#undef DH_LIBRARY_CLASS
#undef DH_LIBRARY_THREAD
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (dh_starts_with(mangled, rows[i].beginning))
            return rows[i].role;
    return DH_THREAD_NONE;
}

bool dh_library_is_thread_entry(const char *mangled)
{
    return dh_starts_with(mangled, "_ZNSt6thread11_State_impl") && dh_ends_with(mangled, "6_M_runEv");
}

bool dh_library_is_copy(const char *mangled)
{
    static const char *const spaces[] = {"_ZNS", "_ZNKS", "_ZS", "_ZTVNS", "_ZTVS", "_ZTIS", "_ZTINS"};
    for (size_t n = 0; n < sizeof spaces / sizeof *spaces; n++)
        if (dh_starts_with(mangled, spaces[n]))
            return true;
    return false;
}
