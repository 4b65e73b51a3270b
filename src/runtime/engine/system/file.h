/* Descriptors and files in a schedule. Layer: runtime. What is written goes into an overlay in memory: the first write
 * to a file copies it there, and every later use of that path or descriptor in the schedule sees the copy. What is
 * written to terminals and to pipes that lead out of the process is thrown away. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILE_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILE_H

#include "runtime/engine/engine.h"

bool dh_files_init(void);
/* A schedule begins: nothing was touched, the overlay is empty. */
void dh_files_begin(void);
/* The descriptor is again what it was at the snapshot. */
void dh_files_restored(int fd);
/* Was it made in this schedule? */
bool dh_files_is_new(int fd);

/* What was there at the snapshot is kept elsewhere until the schedule ends. */
bool dh_files_preserve(long fd);
/* A pipe or event descriptor of the snapshot becomes a copy; false: it leads out of the process. */
bool dh_descriptors_replace(long fd);

/* An empty file in memory, out of the way of the program's descriptors and not undone; negative errno. */
long dh_files_new_in_memory(const char *name);
/* A new descriptor for a file that we have open, with an offset of its own. */
long dh_files_reopen(int fd, int flags);

/* Each does the system call of that name and answers as the kernel. */
long dh_files_open(long number, const long a[6]);
long dh_files_close(const long a[6]);
/* Calls that make one descriptor, or with `pair` two at a[0]. */
long dh_files_new_descriptor(long number, const long a[6]);
long dh_files_new_descriptor_pair(long number, const long a[6], unsigned at);
long dh_files_dup(long number, const long a[6]);
long dh_files_fcntl(const long a[6]);
/* Reads and seeks: moves the offset. */
long dh_files_read_or_seek(long number, const long a[6]);
long dh_files_write(long number, const long a[6]);
long dh_files_unlink(long number, const long a[6]);
long dh_files_stat(long number, const long a[6]);

#endif
