#include "host/library_path.h"

#include "base/str.h"

#include <stdlib.h>

const char *dh_library_path_of_user(void)
{
    const char *users = getenv(DH_USERS_LIBRARY_PATH);
    return users ? users : getenv("LD_LIBRARY_PATH");
}

void dh_library_path_restore(void)
{
    const char *users = getenv(DH_USERS_LIBRARY_PATH);
    if (users && *users)
        setenv("LD_LIBRARY_PATH", users, 1);
    else if (users)
        unsetenv("LD_LIBRARY_PATH");
    unsetenv(DH_USERS_LIBRARY_PATH);
}

void dh_library_path_prepend(const char *folder)
{
    dh_library_path_restore();
    const char *users = getenv("LD_LIBRARY_PATH");
    char *path = users && *users ? dh_format("%s:%s", folder, users) : dh_strdup(folder);
    setenv(DH_USERS_LIBRARY_PATH, users ? users : "", 1);
    setenv("LD_LIBRARY_PATH", path, 1);
    free(path);
}
