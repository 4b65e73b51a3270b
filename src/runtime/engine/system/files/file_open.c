/* open and its relatives. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct request {
    long number, at, path;
    int flags;
    mode_t mode;
};

static mode_t mask;

mode_t dh_files_set_umask(mode_t to)
{
    mode_t before = mask;
    mask = to & 0777;
    return before;
}

static bool is_temporary(const struct request *r)
{
    return (r->flags & O_TMPFILE) == O_TMPFILE;
}

static bool creates_new(const struct request *r)
{
    return (r->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
}

static bool is_change(const struct request *r)
{
    return r->flags & (O_CREAT | O_TRUNC) || is_temporary(r);
}

static int wanted_access(const struct request *r)
{
    int mode = r->flags & O_ACCMODE;
    return (mode == O_RDONLY ? R_OK : mode == O_WRONLY ? W_OK : R_OK | W_OK) | (r->flags & O_TRUNC ? W_OK : 0);
}

/* ---- what is not storage ---- */

/* The kernel's answers can be read; what is written there cannot be taken back. The name of a thread is written to a
 * file that coroutines do not have. */
static long open_live(const struct request *r, const char *path)
{
    const char *own = dh_text_after(path, "/proc/self/task/");
    if ((r->flags & O_ACCMODE) == O_RDONLY || r->flags & O_PATH)
        return dh_files_log_new(dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, r->flags, r->mode, 0, 0));
    if (own)
        return dh_open_file_new(dh_inode_make(NULL, dh_key_of(0, own, dh_text_length(own)), S_IFREG | 0600), NULL,
                                r->flags & ~O_TRUNC);
    return dh_syscalls_cannot(r->number);
}

/* Terminals, /dev/null and their like; random numbers are the engine's (file_io.c). */
static long open_special(const struct request *r, const struct dh_path *p)
{
    mode_t mode = p->inode->about.st_mode;
    dev_t device = p->inode->about.st_rdev;
    if (S_ISSOCK(mode))
        return -ENXIO;
    if (!S_ISCHR(mode))
        return dh_syscalls_cannot(r->number);
    if (major(device) == 1 && (minor(device) == 8 || minor(device) == 9))
        return dh_open_file_new(p->inode, p, r->flags);
    return dh_files_log_new(
        dh_kernel_call(SYS_openat, AT_FDCWD, (long)p->inode->base, r->flags & ~(O_CREAT | O_TRUNC), r->mode, 0, 0));
}

/* ---- files ---- */

static struct dh_inode *make_file(const struct request *r, struct dh_inode *dir, uint64_t key)
{
    struct dh_inode *i = dh_inode_make(dir, key, S_IFREG | (r->mode & 07777 & ~mask));
    i->parent = dir; /* for the room there is */
    return i;
}

static long open_temporary(const struct request *r, const struct dh_path *p)
{
    if ((r->flags & O_ACCMODE) == O_RDONLY)
        return -EINVAL;
    if (!S_ISDIR(p->inode->about.st_mode))
        return -ENOTDIR;
    long result = dh_inode_permits(p->inode, W_OK | X_OK);
    if (result < 0)
        return result;
    struct dh_inode *i = make_file(r, p->inode, dh_key_of(p->inode->key, &r->path, sizeof r->path));
    i->about.st_nlink = 0;
    return dh_open_file_new(i, NULL, r->flags);
}

static long create(const struct request *r, const struct dh_path *p)
{
    if (r->flags & O_DIRECTORY)
        return -EINVAL;
    if (p->dir->parent && !p->dir->about.st_nlink)
        return -ENOENT;
    long result = dh_inode_permits(p->dir, W_OK | X_OK);
    if (result < 0)
        return result;
    struct dh_inode *i = make_file(r, p->dir, dh_key_of(p->dir->key, p->name, p->length));
    long fd = dh_open_file_new(i, p, r->flags);
    if (fd < 0)
        return fd;
    dh_name_set(p->dir, p->name, p->length, i, false);
    dh_inode_touch(p->dir, true);
    return fd;
}

static long check_kind(const struct request *r, const struct dh_path *p)
{
    const struct dh_inode *i = p->inode;
    bool directory = S_ISDIR(i->about.st_mode);
    if (creates_new(r) && !(r->flags & O_PATH))
        return -EEXIST;
    if (S_ISLNK(i->about.st_mode) && !(r->flags & O_PATH))
        return r->flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
    if (r->flags & O_DIRECTORY && !directory)
        return -ENOTDIR;
    if (r->flags & O_PATH)
        return 0;
    if (directory && (wanted_access(r) & W_OK || r->flags & O_CREAT))
        return -EISDIR;
    return dh_inode_permits(i, wanted_access(r));
}

/* Truncating is a step of its own: in the kernel, too, it comes after the file was found. */
static long truncate_opened(long fd)
{
    struct dh_open_file *f = dh_content_step((int)fd, true);
    if (f && dh_content_truncate(f->inode, 0) == 0)
        dh_inode_touch(f->inode, true);
    return fd;
}

static long open_existing(const struct request *r, const struct dh_path *p)
{
    long result = check_kind(r, p);
    if (result < 0)
        return result;
    mode_t mode = p->inode->about.st_mode;
    if (!S_ISREG(mode) && !S_ISDIR(mode) && !(r->flags & O_PATH))
        return open_special(r, p);
    long fd = dh_open_file_new(p->inode, p, r->flags);
    return fd >= 0 && r->flags & O_TRUNC && S_ISREG(mode) && !(r->flags & O_PATH) ? truncate_opened(fd) : fd;
}

static long open_file(const struct request *r)
{
    struct dh_path p;
    bool follows = !(r->flags & O_NOFOLLOW) && !creates_new(r);
    unsigned how = (follows ? DH_PATH_FOLLOW : 0) |
                   (r->flags & O_CREAT && !(r->flags & O_PATH) && !is_temporary(r) ? DH_PATH_CREATE | DH_PATH_FILE : 0);
    dh_file_step(DH_NAMES_OBJECT, -1, is_change(r), DH_IO_NUMBERS);
    long result = dh_path_walk(r->at, r->path, how, &p);
    if (result < 0)
        return result;
    if (p.live)
        return open_live(r, p.live);
    if (is_temporary(r))
        return open_temporary(r, &p);
    return p.inode ? open_existing(r, &p) : create(r, &p);
}

static long open_with(long number, const long a[6])
{
    struct open_how how;
    if (!dh_user_read(&how, a[2], sizeof how))
        return -EFAULT;
    if (how.resolve)
        return dh_syscalls_cannot(number);
    return open_file(&(struct request){number, a[0], a[1], (int)how.flags, (mode_t)how.mode});
}

long dh_files_open(long number, const long a[6])
{
    if (number == SYS_openat2)
        return open_with(number, a);
    if (number == SYS_creat)
        return open_file(&(struct request){number, AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC, (mode_t)a[1]});
    if (number == SYS_open)
        return open_file(&(struct request){number, AT_FDCWD, a[0], (int)a[1], (mode_t)a[2]});
    return open_file(&(struct request){number, a[0], a[1], (int)a[2], (mode_t)a[3]});
}

/* A file without a name; seals are the kernel's. */
long dh_files_memfd(long number, const long a[6])
{
    char name[256];
    long n = dh_user_read_text(name, sizeof name, a[0]);
    if (n < 0)
        return n == -ENAMETOOLONG ? -EINVAL : n;
    if (a[1] & ~3)
        return dh_syscalls_cannot(number);
    dh_file_step(NULL, -1, true, DH_IO_NUMBERS);
    struct dh_inode *i = dh_inode_make(NULL, dh_key_of(1, name, (size_t)n), S_IFREG | 0777);
    i->about.st_nlink = 0;
    return dh_open_file_new(i, NULL, O_RDWR | (a[1] & 1 ? O_CLOEXEC : 0));
}
