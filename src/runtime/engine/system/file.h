/* System calls on files and descriptors, undone after the schedule. Layer: runtime. Writes go to an overlay in memory:
 * the first write copies the file there, and later uses of that path or descriptor in the schedule see the copy. Output
 * to terminals and to pipes out of the process is discarded. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILE_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILE_H

#include "runtime/engine/engine.h"

bool dh_files_init(void);
/* A schedule begins: the overlay is empty. */
void dh_files_begin(void);
/* The undo log restored the descriptor. */
void dh_files_restored(int fd);
/* Was it opened, or replaced, in this schedule? */
bool dh_files_is_new(int fd);

/* Duplicates a descriptor of the snapshot until the schedule ends, so that it can be closed or replaced. */
bool dh_files_preserve(long fd);
bool dh_files_is_open(long fd);
/* The descriptor was opened in this schedule, and is closed after it; returns it, or the error that it is. */
long dh_files_log_new(long fd);
/* dup3 to that number, whatever it was. */
long dh_files_put_at(long from, long at, bool close_on_exec);

/* An empty file in memory, at a high descriptor, which is not undone; negative errno. */
long dh_files_new_in_memory(const char *name);
/* A new descriptor for that file, with an offset of its own. */
long dh_files_reopen(int fd, int flags);

/* Each makes the system call of that name and returns what the kernel would. */
long dh_files_open(long number, const long a[6]);
long dh_files_close(long number, const long a[6]);
/* Calls that return a new descriptor, or write two to a[at]. */
long dh_files_new_descriptor(long number, const long a[6]);
long dh_files_new_descriptor_pair(long number, const long a[6], unsigned at);
long dh_files_dup(long number, const long a[6]);
long dh_files_fcntl(long number, const long a[6]);
/* A read of what is no model. */
long dh_files_read(long number, const long a[6]);
/* Moves the offset. */
long dh_files_read_or_seek(long number, const long a[6]);
long dh_files_write(long number, const long a[6]);
long dh_files_truncate(long number, const long a[6]);
long dh_files_unlink(long number, const long a[6]);
/* stat, access and their *at forms. */
long dh_files_stat(long number, const long a[6]);

#endif
