/* Locks on files within the process: flock and OFD locks belong to open files, POSIX record locks to the process, so
 * that its threads never wait for each other. Layer: runtime. ROLLBACK state. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_LOCKS_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_LOCKS_H

#include "runtime/engine/system/files/file_open.h"

bool dh_file_locks_init(void);
bool dh_locks_is_request(long command);
/* The system call fcntl with such a command. */
long dh_locks_fcntl(const long a[6]);
/* The open file is closed for good. */
void dh_locks_release_file(const struct dh_open_file *f);
/* A descriptor of the file was closed. */
void dh_locks_release_process(struct dh_inode *i);

#endif
