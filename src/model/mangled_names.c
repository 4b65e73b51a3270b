#include "model/mangled_names.h"

#include "base/str.h"

#include <string.h>

bool dh_mangled_is_vtable(const char *name)
{
    return dh_starts_with(name, "_ZTV");
}

bool dh_mangled_is_any_vtable(const char *name)
{
    return dh_starts_with(name, "_ZTV") || dh_starts_with(name, "_ZTC") || dh_starts_with(name, "_ZTT");
}

bool dh_mangled_is_type_data(const char *name)
{
    return dh_starts_with(name, "_ZT");
}

bool dh_mangled_is_thunk(const char *name)
{
    return dh_starts_with(name, "_ZTh") || dh_starts_with(name, "_ZTv") || dh_starts_with(name, "_ZTc");
}

bool dh_mangled_is_static_guard(const char *name)
{
    return dh_starts_with(name, "_ZGVZ");
}

/* Their nested names end in C1, C2, D0 and so on. */
bool dh_mangled_is_constructor_or_destructor(const char *name)
{
    if (!dh_starts_with(name, "_ZN"))
        return false;
    for (const char *at = strpbrk(name, "CD"); at; at = strpbrk(at + 1, "CD"))
        if (at[1] >= '0' && at[1] <= '3' && at[2] == 'E')
            return true;
    return false;
}
