/* A view of the files around a program that its writes leave alone: the folders that it works in are covered by
 * overlays in a mount namespace of its own. Layer: host. For a forked child, before it executes the program. */
#ifndef DH_HOST_PRIVATE_FILES_H
#define DH_HOST_PRIVATE_FILES_H

#include <stdbool.h>

/* Covers the current folder, those of files that `argv` names, the user's own and those of temporary files. False: the
 * system does not allow it, and writes are for real. Folders in which something else is mounted are left out. */
bool dh_private_files(char *const *argv);

#endif
