/* Numbers of descriptors: which were opened in this schedule, and which stand for files of the layer. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/restore/undo.h"
#include "runtime/engine/system/files/directory_listing.h"
#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_locks.h"
#include "runtime/engine/system/files/file_mappings.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { NUMBERS = 1 << 16, INHERITED = 1024, BUFFER = 4096, SAME_FILE = 0 /* KCMP_FILE */ };

enum state { UNCHANGED, NEW, REPLACED };

/* KEEP: what the undo log will do. */
static uint8_t *states;

/* ROLLBACK. */
static struct numbers {
    struct dh_open_file *of[NUMBERS];
    long placeholder; /* descriptor that holds the numbers of files */
    uint32_t opened;
} *numbers;

bool dh_files_init(void)
{
    states = dh_keep_alloc(NUMBERS);
    if (!states || !dh_layer_init() || !dh_listings_init() || !dh_file_copies_init() || !dh_file_locks_init())
        return false;
    numbers = dh_layer_alloc(sizeof *numbers);
    numbers->placeholder = -1;
    return true;
}

/* ---- what will be undone ---- */

static bool is_known(long fd)
{
    return fd >= 0 && fd < NUMBERS;
}

void dh_files_restored(int fd)
{
    if (is_known(fd))
        states[fd] = UNCHANGED;
}

bool dh_files_is_new(int fd)
{
    return is_known(fd) && states[fd] >= NEW;
}

long dh_files_log_new(long fd)
{
    if (!is_known(fd) || states[fd] >= NEW)
        return fd;
    states[fd] = NEW;
    dh_undo_log(DH_UNDO_CLOSE, fd, 0, 0);
    return fd;
}

bool dh_files_preserve(long fd)
{
    if (!is_known(fd) || states[fd] >= NEW || dh_engine->carrier->is_kernel)
        return true;
    long flags = dh_kernel_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0);
    if (flags < 0)
        return true;
    long kept = dh_contents_duplicate(fd);
    if (kept < 0)
        return false;
    dh_undo_log(DH_UNDO_REOPEN, fd, kept, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
    states[fd] = REPLACED;
    return true;
}

bool dh_files_is_open(long fd)
{
    return dh_kernel_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) >= 0;
}

bool dh_files_is_own(long fd)
{
    return fd >= 0 && numbers && (fd == numbers->placeholder || dh_contents_owns(fd));
}

/* ---- open files ---- */

struct dh_open_file *dh_open_file_of(int fd)
{
    return is_known(fd) ? numbers->of[fd] : NULL;
}

struct dh_inode *dh_open_file_inode(uint64_t device, uint64_t number)
{
    for (int fd = 0; fd < INHERITED; fd++) {
        const struct dh_open_file *f = numbers->of[fd];
        if (f && f->inode->about.st_dev == device && f->inode->about.st_ino == number)
            return f->inode;
    }
    return NULL;
}

bool dh_open_file_is_shared(int fd)
{
    struct dh_open_file *f = dh_open_file_of(fd);
    uint32_t self = dh_engine->current->index + 1;
    if (f && !f->user)
        f->user = self;
    return f && f->user != self;
}

bool dh_files_serves(long fd)
{
    return dh_open_file_of((int)fd);
}

static void drop(struct dh_open_file *f)
{
    if (--f->references)
        return;
    dh_locks_release_file(f);
    if (!--f->inode->opened && !f->inode->about.st_nlink)
        dh_content_drop(f->inode);
}

static void forget(long fd)
{
    struct dh_open_file *f = dh_open_file_of((int)fd);
    if (!f)
        return;
    numbers->of[fd] = NULL;
    dh_locks_release_process(f->inode);
    drop(f);
}

static void refer(long fd, struct dh_open_file *f)
{
    f->references++;
    forget(fd);
    numbers->of[fd] = f;
}

/* The lowest free number from `least` on. */
static long take_number(long least, bool close_on_exec)
{
    long fd =
        dh_kernel_call(SYS_fcntl, numbers->placeholder, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, least, 0, 0, 0);
    if (fd >= 0 && (uint64_t)fd >= dh_limits_descriptors()) {
        dh_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
        return -EMFILE;
    }
    return dh_files_log_new(fd);
}

static struct dh_open_file *new_file(struct dh_inode *i, int flags)
{
    struct dh_open_file *f = dh_layer_alloc(sizeof *f);
    *f = (struct dh_open_file){.inode = i, .flags = flags, .number = ++numbers->opened, .real = -1};
    i->opened++;
    return f;
}

long dh_open_file_new(struct dh_inode *i, const struct dh_path *found, int flags)
{
    long fd = take_number(0, flags & O_CLOEXEC);
    if (fd < 0)
        return fd;
    struct dh_open_file *f = new_file(i, flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY | O_CLOEXEC));
    if (found && found->last == DH_LAST_NAME) {
        f->dir = found->dir;
        f->name = dh_layer_text(found->name, found->length);
    }
    refer(fd, f);
    return fd;
}

bool dh_open_file_reads(const struct dh_open_file *f)
{
    return !(f->flags & O_PATH) && (f->flags & O_ACCMODE) != O_WRONLY;
}

bool dh_open_file_writes(const struct dh_open_file *f)
{
    return !(f->flags & O_PATH) && (f->flags & O_ACCMODE) != O_RDONLY;
}

/* ---- at the snapshot ---- */

static bool are_same(long a, long b)
{
    long pid = dh_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    long order = dh_kernel_call(SYS_kcmp, pid, pid, SAME_FILE, a, b, 0);
    if (order >= 0)
        return order == 0;
    /* Positions that move together are one. */
    long at = dh_kernel_call(SYS_lseek, a, 0, SEEK_CUR, 0, 0, 0),
         other = dh_kernel_call(SYS_lseek, b, 0, SEEK_CUR, 0, 0, 0);
    dh_kernel_call(SYS_lseek, a, at + 1, SEEK_SET, 0, 0, 0);
    bool moved = dh_kernel_call(SYS_lseek, b, 0, SEEK_CUR, 0, 0, 0) == at + 1 && other == at;
    dh_kernel_call(SYS_lseek, a, at, SEEK_SET, 0, 0, 0);
    return moved;
}

static struct dh_open_file *find_same(long fd, const struct stat *s)
{
    for (long other = 0; other < fd; other++) {
        struct dh_open_file *f = dh_open_file_of((int)other);
        if (f && f->inode->about.st_dev == s->st_dev && f->inode->about.st_ino == s->st_ino && are_same(other, fd))
            return f;
    }
    return NULL;
}

/* By its path, unless that leads elsewhere by now. */
static struct dh_inode *inode_behind(long fd, const struct stat *s)
{
    char own[32], path[PATH_MAX];
    struct dh_path found;
    dh_print_text(own, sizeof own, "/proc/self/fd/%d", (int)fd);
    long n = dh_kernel_call(SYS_readlink, (long)own, (long)path, sizeof path - 1, 0, 0, 0);
    path[n > 0 ? n : 0] = 0;
    if (n > 0 && path[0] == '/' && dh_path_walk_own(path, 0, &found) == 0 &&
        (found.live ||
         (found.inode && found.inode->about.st_dev == s->st_dev && found.inode->about.st_ino == s->st_ino)))
        return found.inode;
    struct dh_inode *i = dh_inode_of(s, "", NULL);
    i->base = NULL;
    i->inherited = (int32_t)fd;
    return i;
}

static void take_over(long fd)
{
    struct stat s;
    if (!is_known(fd) || dh_kernel_call(SYS_fstat, fd, (long)&s, 0, 0, 0, 0) < 0 ||
        !(S_ISREG(s.st_mode) || S_ISDIR(s.st_mode)))
        return;
    struct dh_open_file *f = find_same(fd, &s);
    if (f) {
        refer(fd, f);
        return;
    }
    struct dh_inode *i = inode_behind(fd, &s);
    if (!i) /* of /proc */
        return;
    f = new_file(i, (int)dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0));
    long at = dh_kernel_call(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
    f->offset = at < 0 ? 0 : at;
    f->real = fd == 1 || fd == 2 ? (int)fd : -1;
    refer(fd, f);
}

static long number_in(const char *text)
{
    long n = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (*text - '0');
    return *text ? -1 : n;
}

static void take_over_all(void)
{
    char buffer[BUFFER];
    long folder = dh_contents_move_away(
             dh_kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0)),
         n;
    while (folder >= 0 && (n = dh_kernel_call(SYS_getdents64, folder, (long)buffer, BUFFER, 0, 0, 0)) > 0)
        for (long at = 0; at < n; at += ((const struct dirent64 *)(buffer + at))->d_reclen) {
            long fd = number_in(((const struct dirent64 *)(buffer + at))->d_name);
            if (fd >= 0 && fd != folder && !dh_files_is_own(fd))
                take_over(fd);
        }
    if (folder >= 0)
        dh_kernel_call(SYS_close, folder, 0, 0, 0, 0, 0);
}

void dh_files_at_snapshot(void)
{
    if (!dh_contents_init() || !dh_paths_init())
        dh_engine_cannot("no memory");
    numbers->placeholder =
        dh_contents_move_away(dh_kernel_call(SYS_openat, AT_FDCWD, (long)"/", O_PATH | O_CLOEXEC, 0, 0, 0));
    long mask = dh_kernel_call(SYS_umask, 0, 0, 0, 0, 0, 0);
    dh_kernel_call(SYS_umask, mask, 0, 0, 0, 0, 0);
    dh_files_set_umask((mode_t)mask);
    if (dh_engine->flags & DH_ENGINE_FOR_REAL)
        return;
    take_over_all();
    dh_shared_mappings_take_over();
}

/* What the beginning opened is like what was open before it. */
void dh_files_begin_here(void)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        states[i] = UNCHANGED;
    dh_contents_begin_here();
}

/* ---- files of our own ---- */

long dh_files_new_in_memory(const char *name)
{
    return dh_contents_move_away(dh_kernel_call(SYS_memfd_create, (long)name, 1, 0, 0, 0, 0));
}

long dh_files_reopen(int fd, int flags)
{
    char path[32];
    dh_print_text(path, sizeof path, "/proc/self/fd/%d", fd);
    return dh_files_log_new(dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0, 0, 0));
}

/* ---- calls ---- */

long dh_files_close(long number, const long a[6])
{
    int fd = (int)a[0];
    if (dh_files_is_own(fd))
        return -EBADF;
    if (!dh_files_preserve(fd))
        return -EMFILE;
    forget(fd);
    return dh_kernel_call(number, fd, 0, 0, 0, 0, 0);
}

long dh_files_new_descriptor(long number, const long a[6])
{
    return dh_files_log_new(dh_kernel_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

long dh_files_put_at(long from, long at, bool close_on_exec)
{
    if (dh_files_is_own(at) || (uint64_t)at >= dh_limits_descriptors())
        return -EBADF;
    if (dh_files_is_open(at) && !dh_files_preserve(at))
        return -EMFILE;
    long result = dh_kernel_call(SYS_dup3, from, at, close_on_exec ? O_CLOEXEC : 0, 0, 0, 0);
    if (result < 0)
        return result;
    forget(at);
    return dh_files_log_new(result);
}

static long duplicate(int fd, long least, bool close_on_exec)
{
    struct dh_open_file *f = dh_open_file_of(fd);
    if (!f)
        return dh_files_log_new(
            dh_kernel_call(SYS_fcntl, fd, close_on_exec ? F_DUPFD_CLOEXEC : F_DUPFD, least, 0, 0, 0));
    long result = take_number(least, close_on_exec);
    if (result >= 0)
        refer(result, f);
    return result;
}

long dh_files_dup(long number, const long a[6])
{
    int fd = (int)a[0], at = (int)a[1];
    struct dh_open_file *f = dh_open_file_of(fd);
    if (dh_files_is_own(fd))
        return -EBADF;
    if (number == SYS_dup)
        return duplicate(fd, 0, false);
    if (fd == at || (number == SYS_dup3 && a[2] & ~O_CLOEXEC))
        return dh_kernel_call(number, fd, at, a[2], 0, 0, 0);
    if (f && at < 0)
        return -EBADF;
    long result = dh_files_put_at(f ? numbers->placeholder : fd, at, number == SYS_dup3 && a[2] & O_CLOEXEC);
    if (f && result >= 0)
        refer(result, f);
    return result;
}

/* Of an open file of the layer. */
static long control(struct dh_open_file *f, const long a[6])
{
    enum { CHANGEABLE = O_APPEND | O_NONBLOCK | O_NOATIME | O_DIRECT | O_ASYNC };
    if (f->flags & O_PATH && a[1] != F_GETFL && a[1] != F_GETFD && a[1] != F_SETFD)
        return -EBADF;
    switch (a[1]) {
    case F_GETFL:
        return f->flags | (f->flags & O_PATH ? 0 : 0100000 /* O_LARGEFILE */);
    case F_SETFL:
        f->flags = (f->flags & ~CHANGEABLE) | ((int)a[2] & CHANGEABLE);
        return 0;
    case F_GETFD:
    case F_SETFD:
        return dh_kernel_call(SYS_fcntl, a[0], a[1], a[2], 0, 0, 0);
    case 1033: /* F_ADD_SEALS */
    case 1034: /* F_GET_SEALS */
        return f->inode->about.st_dev ? -EINVAL
                                      : dh_kernel_call(SYS_fcntl, dh_content_writer(f->inode), a[1], a[2], 0, 0, 0);
    default:
        return dh_syscalls_cannot(SYS_fcntl);
    }
}

long dh_files_fcntl(long number, const long a[6])
{
    int fd = (int)a[0];
    struct dh_open_file *f = dh_open_file_of(fd);
    if (dh_files_is_own(fd))
        return -EBADF;
    if (a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC)
        return (unsigned long)a[2] >= dh_limits_descriptors() ? -EINVAL : duplicate(fd, a[2], a[1] == F_DUPFD_CLOEXEC);
    if (!f)
        return dh_syscalls_pass_through(number, a);
    return dh_locks_is_request(a[1]) ? dh_locks_fcntl(a) : control(f, a);
}
