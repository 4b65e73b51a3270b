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
        const char *name;
        enum dh_library_class class;
    } rows[] = {
        {"6vectorI", DH_LIBRARY_OWNER},
        {"5dequeI", DH_LIBRARY_OWNER},
        {"4listI", DH_LIBRARY_OWNER},
        {"12forward_listI", DH_LIBRARY_OWNER},
        {"3mapI", DH_LIBRARY_OWNER},
        {"8multimapI", DH_LIBRARY_OWNER},
        {"3setI", DH_LIBRARY_OWNER},
        {"8multisetI", DH_LIBRARY_OWNER},
        {"13unordered_mapI", DH_LIBRARY_OWNER},
        {"18unordered_multimapI", DH_LIBRARY_OWNER},
        {"13unordered_setI", DH_LIBRARY_OWNER},
        {"18unordered_multisetI", DH_LIBRARY_OWNER},
        {"5queueI", DH_LIBRARY_OWNER},
        {"5stackI", DH_LIBRARY_OWNER},
        {"14priority_queueI", DH_LIBRARY_OWNER},
        {"12basic_stringI", DH_LIBRARY_OWNER},
        {"8functionI", DH_LIBRARY_SHARED_OWNER},
        {"10unique_ptrI", DH_LIBRARY_OWNER},
        {"10shared_ptrI", DH_LIBRARY_SHARED_OWNER},
        {"12__shared_ptrI", DH_LIBRARY_SHARED_OWNER},
        {"19__shared_ptr_accessI", DH_LIBRARY_SHARED_OWNER},
        {"8weak_ptrI", DH_LIBRARY_SHARED_OWNER},
        {"10__weak_ptrI", DH_LIBRARY_SHARED_OWNER},
        {"3any", DH_LIBRARY_OWNER},
        /* Base classes: compilers merge a destructor with an equal one of the base. */
        {"8_Rb_treeI", DH_LIBRARY_OWNER},
        {"10_HashtableI", DH_LIBRARY_OWNER},
        {"10_List_baseI", DH_LIBRARY_OWNER},
        {"14_Fwd_list_baseI", DH_LIBRARY_OWNER},
        {"14_Function_baseD", DH_LIBRARY_SHARED_OWNER},
        {"14_Optional_baseI", DH_LIBRARY_VALUE},
        {"17_Optional_payloadI", DH_LIBRARY_VALUE},
        {"22_Optional_payload_baseI", DH_LIBRARY_VALUE},
        {"8optionalI", DH_LIBRARY_VALUE},
        {"7variantI", DH_LIBRARY_VALUE},
        {"4pairI", DH_LIBRARY_VALUE},
        {"5tupleI", DH_LIBRARY_VALUE},
        {"5arrayI", DH_LIBRARY_VALUE},
        {"6bitsetI", DH_LIBRARY_VALUE},
        {"10lock_guardI", DH_LIBRARY_LOCK_GUARD},
        {"11unique_lockI", DH_LIBRARY_LOCK_GUARD},
        {"11scoped_lockI", DH_LIBRARY_LOCK_GUARD},
        {"11shared_lockI", DH_LIBRARY_LOCK_GUARD},
    };
    const char *at = dh_starts_with(mangled, "_Z") ? scope_of(mangled + 2) : NULL;
    if (!at || !dh_starts_with(at, "St"))
        return DH_LIBRARY_OTHER;
    at += 2;
    if (dh_starts_with(at, "7__cxx11"))
        at += 8;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (dh_starts_with(at, rows[i].name))
            return rows[i].class;
    return DH_LIBRARY_OTHER;
}
