/* What is known of files: status, access, links, modes, owners, times, the working directory. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <utime.h>

enum { UNIT = 512, BLOCK = 4096 };

/* A file that a call names by path, or by descriptor (`fd` >= 0). */
struct target {
    struct dh_inode *inode;
    const char *live; /* path for the kernel */
    bool foreign;     /* a descriptor that is not of the layer */
    bool by_path_only;
};

static long find(long at, long path, long flags, bool changes, struct target *out)
{
    struct dh_path p;
    unsigned how = (flags & AT_SYMLINK_NOFOLLOW ? 0 : DH_PATH_FOLLOW) | (flags & AT_EMPTY_PATH ? DH_PATH_EMPTY : 0);
    char first = 0;
    dh_names_step(changes);
    *out = (struct target){0};
    /* The descriptor itself, which may be of any kind. */
    if (flags & AT_EMPTY_PATH && (int)at >= 0 && dh_user_read(&first, path, 1) && !first && !dh_files_serves(at)) {
        out->foreign = true;
        return 0;
    }
    long result = dh_path_walk(at, path, how, &p);
    out->inode = p.inode;
    out->live = result < 0 ? NULL : p.live;
    return result;
}

static void find_open(int fd, bool changes, struct target *out)
{
    struct dh_open_file *f = dh_content_step(fd, changes);
    *out = (struct target){.inode = f ? f->inode : NULL, .foreign = !f || f->real >= 0};
    out->by_path_only = f && f->flags & O_PATH;
}

/* ---- status ---- */

static struct stat status_of(struct dh_inode *i)
{
    struct stat s = i->about;
    if (i->content || (!i->base && S_ISREG(s.st_mode))) {
        s.st_size = dh_content_size(i);
        s.st_blocks = (s.st_size + BLOCK - 1) / BLOCK * (BLOCK / UNIT);
    }
    return s;
}

/* A call for the kernel, with the path in place of the program's. */
static long pass_live(long number, const long a[6], unsigned at, const char *path)
{
    long real[6] = {a[0], a[1], a[2], a[3], a[4], a[5]};
    real[at] = (long)path;
    return dh_syscalls_pass_through(number, real);
}

long dh_files_stat(long number, const long a[6])
{
    bool at = number == SYS_newfstatat;
    struct target t;
    long result = 0, out = at ? a[2] : a[1];
    if (number == SYS_fstat)
        find_open((int)a[0], false, &t);
    else
        result = find(at ? a[0] : AT_FDCWD, a[at],
                      at                    ? a[3]
                      : number == SYS_lstat ? AT_SYMLINK_NOFOLLOW
                                            : 0,
                      false, &t);
    if (result < 0)
        return result;
    if (t.foreign || t.live)
        return t.live ? pass_live(number, a, at, t.live) : dh_syscalls_pass_through(number, a);
    struct stat s = status_of(t.inode);
    return dh_user_write(out, &s, sizeof s) ? 0 : -EFAULT;
}

static struct statx_timestamp extended_time(struct timespec t)
{
    return (struct statx_timestamp){.tv_sec = t.tv_sec, .tv_nsec = (uint32_t)t.tv_nsec};
}

static struct statx extended(const struct stat *s)
{
    return (struct statx){
        .stx_mask = STATX_BASIC_STATS,
        .stx_blksize = (uint32_t)s->st_blksize,
        .stx_nlink = (uint32_t)s->st_nlink,
        .stx_uid = s->st_uid,
        .stx_gid = s->st_gid,
        .stx_mode = (uint16_t)s->st_mode,
        .stx_ino = s->st_ino,
        .stx_size = (uint64_t)s->st_size,
        .stx_blocks = (uint64_t)s->st_blocks,
        .stx_atime = extended_time(s->st_atim),
        .stx_ctime = extended_time(s->st_ctim),
        .stx_mtime = extended_time(s->st_mtim),
        .stx_rdev_major = major(s->st_rdev),
        .stx_rdev_minor = minor(s->st_rdev),
        .stx_dev_major = major(s->st_dev),
        .stx_dev_minor = minor(s->st_dev),
    };
}

long dh_files_statx(long number, const long a[6])
{
    struct target t;
    long result = find(a[0], a[1], a[2], false, &t);
    if (result < 0)
        return result;
    if (t.foreign || t.live)
        return t.live ? pass_live(number, a, 1, t.live) : dh_syscalls_pass_through(number, a);
    struct stat s = status_of(t.inode);
    struct statx x = extended(&s);
    return dh_user_write(a[4], &x, sizeof x) ? 0 : -EFAULT;
}

long dh_files_access(long number, const long a[6])
{
    bool at = number != SYS_access;
    struct target t;
    long want = a[1 + at];
    if (want & ~7)
        return -EINVAL;
    long result = find(at ? a[0] : AT_FDCWD, a[at], number == SYS_faccessat2 ? a[3] : 0, false, &t);
    if (result < 0)
        return result;
    if (t.foreign || t.live)
        return t.live ? pass_live(number, a, at, t.live) : dh_syscalls_pass_through(number, a);
    return dh_inode_permits(t.inode, (int)want);
}

/* The file that /proc/self/fd/N stands for; false: that is not asked. */
static bool read_descriptor_link(const char *live, char *out, size_t n, long *length)
{
    const char *digits = dh_text_after(live, "/proc/self/fd/");
    int fd = 0;
    for (; digits && *digits >= '0' && *digits <= '9'; digits++)
        fd = fd * 10 + (*digits - '0');
    const struct dh_open_file *f = digits && !*digits ? dh_open_file_of(fd) : NULL;
    if (!f || (!f->name && !S_ISDIR(f->inode->about.st_mode)))
        return false;
    bool directory = S_ISDIR(f->inode->about.st_mode);
    long to = dh_path_of_directory(directory ? f->inode : f->dir, out, n);
    size_t more = directory || to < 0 ? 0 : dh_text_length(f->name);
    if (to >= 0 && more && (size_t)to + more + 2 < n) {
        bool is_root = to == 1;
        out[to] = '/';
        dh_bytes_copy(out + to + !is_root, f->name, more + 1);
        to += (long)more + !is_root;
    }
    *length = to;
    return true;
}

long dh_files_readlink(long number, const long a[6])
{
    bool at = number == SYS_readlinkat;
    struct target t;
    char text[PATH_MAX];
    long result = find(at ? a[0] : AT_FDCWD, a[at], AT_SYMLINK_NOFOLLOW | (at ? AT_EMPTY_PATH : 0), false, &t);
    size_t most = a[2 + at] < (long)sizeof text ? (size_t)a[2 + at] : sizeof text;
    if (result < 0 || a[2 + at] <= 0)
        return result < 0 ? result : -EINVAL;
    if (t.foreign || (t.live && !read_descriptor_link(t.live, text, sizeof text, &result)))
        return t.live ? pass_live(number, a, at, t.live) : dh_syscalls_pass_through(number, a);
    if (!t.live)
        result = S_ISLNK(t.inode->about.st_mode) ? dh_path_read_link(t.inode, text, most) : -EINVAL;
    if (result > (long)most)
        result = (long)most;
    return result > 0 && !dh_user_write(a[1 + at], text, (size_t)result) ? -EFAULT : result;
}

/* ---- changing it ---- */

/* By path or by descriptor; what is not storage cannot be taken back. */
static long find_to_change(long number, long at, long path, long flags, struct target *t)
{
    long result = 0;
    if (path)
        result = find(at, path, flags, true, t);
    else
        find_open((int)at, true, t);
    if (result < 0)
        return result;
    if (t->foreign)
        return dh_kernel_call(SYS_fcntl, at, F_GETFD, 0, 0, 0, 0) < 0 ? -EBADF : dh_syscalls_cannot(number);
    if (t->by_path_only)
        return -EBADF;
    return t->live ? dh_syscalls_cannot(number) : 0;
}

long dh_files_chmod(long number, const long a[6])
{
    bool at = number == SYS_fchmodat;
    struct target t;
    long result =
        find_to_change(number, number == SYS_chmod ? AT_FDCWD : a[0], number == SYS_fchmod ? 0 : a[at], 0, &t);
    if (result < 0)
        return result;
    if (!dh_inode_is_own(t.inode))
        return -EPERM;
    t.inode->about.st_mode = (t.inode->about.st_mode & S_IFMT) | ((mode_t)a[1 + at] & 07777);
    dh_inode_touch(t.inode, false);
    return 0;
}

long dh_files_chown(long number, const long a[6])
{
    bool at = number == SYS_fchownat, by_number = number == SYS_fchown;
    long flags = at ? a[4] : number == SYS_lchown ? AT_SYMLINK_NOFOLLOW : 0;
    struct target t;
    long result = find_to_change(number, at || by_number ? a[0] : AT_FDCWD, by_number ? 0 : a[at], flags, &t);
    if (result < 0)
        return result;
    struct stat *s = &t.inode->about;
    uid_t owner = (int)a[1 + at] == -1 ? s->st_uid : (uid_t)a[1 + at];
    gid_t group = (int)a[2 + at] == -1 ? s->st_gid : (gid_t)a[2 + at];
    bool same = owner == s->st_uid && group == s->st_gid;
    if (!same && dh_kernel_call(SYS_geteuid, 0, 0, 0, 0, 0, 0) != 0)
        return -EPERM;
    if (!S_ISDIR(s->st_mode))
        s->st_mode &= (mode_t) ~(s->st_mode & S_IXGRP ? S_ISUID | S_ISGID : S_ISUID);
    s->st_uid = owner;
    s->st_gid = group;
    dh_inode_touch(t.inode, false);
    return 0;
}

static bool read_times(long number, long from, struct timespec to[2])
{
    struct utimbuf seconds;
    if (number == SYS_utime) {
        if (!dh_user_read(&seconds, from, sizeof seconds))
            return false;
        to[0] = (struct timespec){.tv_sec = seconds.actime};
        to[1] = (struct timespec){.tv_sec = seconds.modtime};
        return true;
    }
    if (!dh_user_read(to, from, 2 * sizeof *to))
        return false;
    for (unsigned i = 0; i < 2 && number != SYS_utimensat; i++)
        to[i].tv_nsec *= 1000;
    return true;
}

static bool is_time(const struct timespec *t)
{
    return (t->tv_nsec >= 0 && t->tv_nsec < 1000000000) || t->tv_nsec == UTIME_NOW || t->tv_nsec == UTIME_OMIT;
}

static void set_time(struct timespec *to, struct timespec wanted, struct timespec now)
{
    if (wanted.tv_nsec != UTIME_OMIT)
        *to = wanted.tv_nsec == UTIME_NOW ? now : wanted;
}

/* utimensat, utimes, utime, futimesat */
long dh_files_times(long number, const long a[6])
{
    bool at = number == SYS_utimensat || number == SYS_futimesat;
    struct timespec wanted[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    struct target t;
    if (a[1 + at] && !read_times(number, a[1 + at], wanted))
        return -EFAULT;
    if (!is_time(&wanted[0]) || !is_time(&wanted[1]))
        return -EINVAL;
    if (!a[at] && !at)
        return -EFAULT;
    long result = find_to_change(number, at ? a[0] : AT_FDCWD, a[at], number == SYS_utimensat ? a[3] : 0, &t);
    if (result < 0)
        return result;
    bool now_only = !a[1 + at] || (wanted[0].tv_nsec == UTIME_NOW && wanted[1].tv_nsec == UTIME_NOW);
    if (!dh_inode_is_own(t.inode) && (!now_only || dh_inode_permits(t.inode, W_OK) < 0))
        return now_only ? -EACCES : -EPERM;
    dh_inode_touch(t.inode, false);
    set_time(&t.inode->about.st_atim, wanted[0], t.inode->about.st_ctim);
    set_time(&t.inode->about.st_mtim, wanted[1], t.inode->about.st_ctim);
    return 0;
}

long dh_files_umask(long number, const long a[6])
{
    (void)number;
    dh_names_step(true);
    return dh_files_set_umask((mode_t)a[0]);
}

/* ---- file systems, directories ---- */

static const char *base_of(const struct dh_inode *i)
{
    while (!i->base && i->parent)
        i = i->parent;
    return i->base ? i->base : "/";
}

long dh_files_statfs(long number, const long a[6])
{
    struct target t;
    long result = 0;
    if (number == SYS_fstatfs)
        find_open((int)a[0], false, &t);
    else
        result = find(AT_FDCWD, a[0], 0, false, &t);
    if (result < 0)
        return result;
    if (t.foreign)
        return dh_syscalls_pass_through(number, a);
    return pass_live(SYS_statfs, a, 0, t.live ? t.live : base_of(t.inode));
}

long dh_files_chdir(long number, const long a[6])
{
    struct target t;
    long result = 0;
    if (number == SYS_fchdir)
        find_open((int)a[0], false, &t);
    else
        result = find(AT_FDCWD, a[0], 0, true, &t);
    if (result < 0)
        return result;
    if (t.foreign)
        return dh_kernel_call(SYS_fcntl, a[0], F_GETFD, 0, 0, 0, 0) < 0 ? -EBADF : -ENOTDIR;
    if (t.live)
        return dh_syscalls_cannot(number);
    if (!S_ISDIR(t.inode->about.st_mode))
        return -ENOTDIR;
    if ((result = dh_inode_permits(t.inode, X_OK)) < 0)
        return result;
    dh_path_set_working_directory(t.inode);
    return 0;
}

long dh_files_getcwd(long number, const long a[6])
{
    char path[PATH_MAX];
    (void)number;
    dh_names_step(false);
    const struct dh_inode *dir = dh_path_working_directory();
    long n = dir ? dh_path_of_directory(dir, path, sizeof path) : -ENOENT;
    if (n < 0)
        return n;
    if (n + 1 > a[1])
        return -ERANGE;
    return dh_user_write(a[0], path, (size_t)n + 1) ? n + 1 : -EFAULT;
}

long dh_files_find_for_attributes(long number, const long a[6], struct dh_attribute_call *call)
{
    struct target t;
    long result = 0;
    if (call->by_number)
        find_open((int)a[0], call->changes, &t);
    else
        result = find(AT_FDCWD, a[0], call->of_link ? AT_SYMLINK_NOFOLLOW : 0, call->changes, &t);
    if (result < 0)
        return result;
    if ((t.foreign || t.live) && call->changes)
        dh_syscalls_never(number);
    call->inode = t.foreign || t.live ? NULL : t.inode;
    call->live = t.live;
    return 0;
}
