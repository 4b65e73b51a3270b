/* A view of the files around a program that its writes leave alone: the folders that it works in are covered by
 * overlays in a mount namespace of its own. Layer: host. For a forked child, before it executes the program. */
#ifndef DH_HOST_PRIVATE_FILES_H
#define DH_HOST_PRIVATE_FILES_H

#include <sys/types.h>

enum dh_files {
    DH_FILES_REAL, /* the system does not allow a view of its own */
    DH_FILES_PRIVATE,
    DH_FILES_PRIVATE_TO_USER, /* in a user namespace of its own, from which files of other processes cannot be opened */
};

/* Covers the current folder, those of files that `argv` names, the user's own and those of temporary files. Folders in
 * which something else is mounted are left out, and so are the cache and `kept` (paths, ends with NULL; may be NULL).
 */
enum dh_files dh_private_files(char *const *argv, const char *const *kept);

/* How the program, whose files are these, opens a file of the tool: by path, or as "NUMBER:DEVICE:INODE" of a
 * descriptor that is left open for it and those it starts. Owned by the caller. */
char *dh_file_for_program(int file, pid_t tool, enum dh_files files);

#endif
