/* System calls on files and their descriptors (file_layer.h): each makes the call of that name and returns what the
 * kernel would. Layer: runtime. Calls on descriptors that are not the layer's pass through, with an undo. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_H
#define DH_RUNTIME_ENGINE_SYSTEM_FILES_FILE_H

#include "runtime/engine/engine.h"

bool dh_files_init(void);
/* At the snapshot: files that are open or mapped are taken over. */
void dh_files_at_snapshot(void);
/* Schedules begin here, in the middle of a run (start_point.h). */
void dh_files_begin_here(void);

/* ---- numbers (file.c) ---- */

/* The undo log restored the descriptor. */
void dh_files_restored(int fd);
/* Was it opened, or replaced, in this schedule? */
bool dh_files_is_new(int fd);
/* It was opened just now; answers it. */
long dh_files_log_new(long fd);
/* Duplicates a descriptor of the snapshot until the schedule ends, so that it can be closed or replaced. */
bool dh_files_preserve(long fd);
/* dup3 of a descriptor that is not the layer's onto any number. */
long dh_files_put_at(long from, long at, bool close_on_exec);
bool dh_files_is_open(long fd);
/* Is it one of ours, which the program must not know of? */
bool dh_files_is_own(long fd);
/* Is it a file or directory of the layer? */
bool dh_files_serves(long fd);
/* An empty file in memory, out of the program's reach, which is not undone; negative errno. */
long dh_files_new_in_memory(const char *name);
/* A new descriptor for that file, with an offset of its own. */
long dh_files_reopen(int fd, int flags);

long dh_files_close(long number, const long a[6]);
long dh_files_dup(long number, const long a[6]);
long dh_files_fcntl(long number, const long a[6]);
/* Calls that return a new descriptor. */
long dh_files_new_descriptor(long number, const long a[6]);

/* ---- limits of the process (limits.c) ---- */

/* getrlimit, setrlimit, prlimit64. */
long dh_limits(long number, const long a[6]);
/* One more than the highest descriptor that the program may have. */
uint64_t dh_limits_descriptors(void);

/* ---- opening (file_open.c) ---- */

long dh_files_open(long number, const long a[6]);
long dh_files_memfd(long number, const long a[6]);

/* ---- contents (file_io.c, file_copy.c) ---- */

bool dh_file_copies_init(void);

/* read, readv, pread64, preadv, preadv2 */
long dh_files_read(long number, const long a[6]);
/* write, writev, pwrite64, pwritev, pwritev2 */
long dh_files_write(long number, const long a[6]);
long dh_files_seek(long number, const long a[6]);
long dh_files_truncate(long number, const long a[6]);
long dh_files_allocate(long number, const long a[6]);
/* sendfile, splice, copy_file_range */
long dh_files_copy(long number, const long a[6]);
/* Of a file: fsync, fdatasync, fadvise64, readahead, sync_file_range. */
long dh_files_nothing(long number, const long a[6]);

/* ---- names (file_names.c) ---- */

long dh_files_mkdir(long number, const long a[6]);
/* unlink, unlinkat, rmdir */
long dh_files_unlink(long number, const long a[6]);
long dh_files_rename(long number, const long a[6]);
long dh_files_link(long number, const long a[6]);
long dh_files_symlink(long number, const long a[6]);
long dh_files_mknod(long number, const long a[6]);

/* ---- what is known of them (file_status.c) ---- */

long dh_files_stat(long number, const long a[6]);
long dh_files_statx(long number, const long a[6]);
long dh_files_access(long number, const long a[6]);
long dh_files_readlink(long number, const long a[6]);
long dh_files_chmod(long number, const long a[6]);
long dh_files_chown(long number, const long a[6]);
long dh_files_times(long number, const long a[6]);
long dh_files_umask(long number, const long a[6]);
long dh_files_statfs(long number, const long a[6]);
long dh_files_chdir(long number, const long a[6]);
long dh_files_getcwd(long number, const long a[6]);

/* ---- extended attributes (file_attributes.c) ---- */

/* Those of the base, but for what was set and removed in the layer. */
long dh_files_xattr(long number, const long a[6]);

/* ---- ioctl (file_ioctl.c) ---- */

/* What only asks is the kernel's; what changes a device or a file is refused. */
long dh_files_ioctl(long number, const long a[6]);

/* ---- locks (file_locks.c) ---- */

long dh_files_flock(long number, const long a[6]);

#endif
