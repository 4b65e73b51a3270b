/* Files that the tool makes for the program (host/private_files.h). Layer: runtime. Async-signal-safe. */
#ifndef DH_RUNTIME_PLATFORM_TOOL_FILE_H
#define DH_RUNTIME_PLATFORM_TOOL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Maps a file named by its path, or as "NUMBER:DEVICE:INODE" of a descriptor that was left open, which stays open for
 * programs that this one starts. Size 0: as large as it is. NULL: there is none, or it is smaller. */
void *dh_tool_file_map(const char *name, size_t size, size_t *mapped);

#endif
