/* LD_LIBRARY_PATH of programs that run as a variant: the folder of their libraries' variants comes first, the user's
 * own value is kept beside it. The runtime puts that back before the program's own code runs (runtime/core/start.c).
 * Layer: host. Changes this process's environment, or a forked child's. */
#ifndef DH_HOST_LIBRARY_PATH_H
#define DH_HOST_LIBRARY_PATH_H

#define DH_USERS_LIBRARY_PATH "DEADHEAT_RESTORE_LD_LIBRARY_PATH"

/* The user's own value, NULL: none. */
const char *dh_library_path_of_user(void);
void dh_library_path_restore(void);
void dh_library_path_prepend(const char *folder);

#endif
