/* Calls that change names: mkdir, rmdir, unlink, rename, link, symlink, mknod. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/system/files/directory_listing.h"
#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <unistd.h>

/* ---- what all of them need ---- */

static uint64_t key_for(const struct dh_path *p)
{
    return dh_key_of(p->dir->key, p->name, p->length);
}

static void set_name(const struct dh_path *p, struct dh_inode *inode)
{
    dh_name_set(p->dir, p->name, p->length, inode, false);
    dh_inode_touch(p->dir, true);
}

static long may_change(const struct dh_inode *dir)
{
    return dh_inode_permits(dir, W_OK | X_OK);
}

/* Of a directory with the sticky bit only owners remove names. */
static long may_remove(const struct dh_path *p)
{
    long result = may_change(p->dir);
    bool sticky = p->dir->about.st_mode & S_ISVTX && !dh_inode_is_own(p->dir) && !dh_inode_is_own(p->inode);
    return result < 0 ? result : sticky ? -EPERM : 0;
}

static void unlink_inode(struct dh_inode *i)
{
    i->about.st_nlink -= S_ISDIR(i->about.st_mode) ? i->about.st_nlink : 1;
    dh_inode_touch(i, false);
    if (!i->about.st_nlink && !i->opened)
        dh_content_drop(i);
}

/* Where a new name is to be made: -EEXIST if it exists. */
static long find_free(long number, long at, long path, struct dh_path *p, bool directory)
{
    dh_names_step(true);
    long result = dh_path_walk(at, path, DH_PATH_CREATE, p);
    if (result < 0)
        return result;
    if (p->live)
        dh_syscalls_never(number);
    if (p->inode)
        return -EEXIST;
    if (p->slash && !directory)
        return -ENOENT;
    return p->dir->parent && !p->dir->about.st_nlink ? -ENOENT : may_change(p->dir);
}

static long find_existing(long number, long at, long path, unsigned how, struct dh_path *p)
{
    dh_names_step(true);
    long result = dh_path_walk(at, path, how, p);
    if (result == 0 && p->live)
        dh_syscalls_never(number);
    return result;
}

/* ---- making ---- */

long dh_files_mkdir(long number, const long a[6])
{
    bool at = number == SYS_mkdirat;
    struct dh_path p;
    long result = find_free(number, at ? a[0] : AT_FDCWD, a[at], &p, true);
    if (result < 0)
        return result;
    mode_t mask = dh_files_set_umask(0);
    dh_files_set_umask(mask);
    struct dh_inode *i = dh_inode_make(p.dir, key_for(&p), S_IFDIR | ((mode_t)a[1 + at] & 01777 & ~mask));
    i->parent = p.dir;
    p.dir->about.st_nlink++;
    set_name(&p, i);
    return 0;
}

long dh_files_symlink(long number, const long a[6])
{
    bool at = number == SYS_symlinkat;
    char target[PATH_MAX];
    struct dh_path p;
    long n = dh_user_read_text(target, sizeof target, a[0]);
    long result = n < 0 ? n : !n ? -ENOENT : find_free(number, at ? a[1] : AT_FDCWD, a[1 + at], &p, false);
    if (result < 0)
        return result;
    struct dh_inode *i = dh_inode_make(p.dir, key_for(&p), S_IFLNK | 0777);
    i->target = dh_layer_text(target, (size_t)n);
    i->about.st_size = n;
    set_name(&p, i);
    return 0;
}

/* Named pipes and devices lead out of the process. */
long dh_files_mknod(long number, const long a[6])
{
    bool at = number == SYS_mknodat;
    mode_t mode = (mode_t)a[1 + at];
    struct dh_path p;
    if (mode & S_IFMT && !S_ISREG(mode))
        dh_syscalls_never(number);
    long result = find_free(number, at ? a[0] : AT_FDCWD, a[at], &p, false);
    if (result < 0)
        return result;
    mode_t mask = dh_files_set_umask(0);
    dh_files_set_umask(mask);
    set_name(&p, dh_inode_make(p.dir, key_for(&p), S_IFREG | (mode & 07777 & ~mask)));
    return 0;
}

long dh_files_link(long number, const long a[6])
{
    bool at = number == SYS_linkat;
    long flags = at ? a[4] : 0;
    unsigned how = (flags & AT_SYMLINK_FOLLOW ? DH_PATH_FOLLOW : 0) | (flags & AT_EMPTY_PATH ? DH_PATH_EMPTY : 0);
    struct dh_path from, to;
    if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    long result = find_existing(number, at ? a[0] : AT_FDCWD, a[at], how, &from);
    if (result == 0)
        result = dh_path_walk(at ? a[2] : AT_FDCWD, a[at ? 3 : 1], DH_PATH_CREATE, &to);
    if (result < 0)
        return result;
    if (to.live)
        dh_syscalls_never(number);
    if (to.inode || (to.slash && !to.inode))
        return to.inode ? -EEXIST : -ENOENT;
    if (from.inode->about.st_dev != to.dir->about.st_dev)
        return -EXDEV;
    if ((result = may_change(to.dir)) < 0)
        return result;
    if (S_ISDIR(from.inode->about.st_mode))
        return -EPERM;
    from.inode->about.st_nlink++;
    dh_inode_touch(from.inode, false);
    set_name(&to, from.inode);
    return 0;
}

/* ---- removing ---- */

static long remove_directory(const struct dh_path *p)
{
    long result = p->last == DH_LAST_DOT    ? -EINVAL
                  : p->last == DH_LAST_DOTS ? -ENOTEMPTY
                  : p->last == DH_LAST_ROOT ? -EBUSY
                                            : may_remove(p);
    if (result < 0)
        return result;
    if (!S_ISDIR(p->inode->about.st_mode))
        return -ENOTDIR;
    if (!dh_directory_is_empty(p->inode))
        return -ENOTEMPTY;
    p->dir->about.st_nlink--;
    set_name(p, NULL);
    unlink_inode(p->inode);
    return 0;
}

static long remove_file(const struct dh_path *p)
{
    if (p->last != DH_LAST_NAME)
        return -EISDIR;
    long result = may_remove(p);
    if (result < 0)
        return result;
    if (S_ISDIR(p->inode->about.st_mode))
        return -EISDIR;
    set_name(p, NULL);
    unlink_inode(p->inode);
    return 0;
}

long dh_files_unlink(long number, const long a[6])
{
    bool at = number == SYS_unlinkat;
    struct dh_path p;
    if (at && a[2] & ~AT_REMOVEDIR)
        return -EINVAL;
    bool directory = number == SYS_rmdir || (at && a[2]);
    long result = find_existing(number, at ? a[0] : AT_FDCWD, a[at], DH_PATH_PARENT, &p);
    return result < 0 ? result : directory ? remove_directory(&p) : remove_file(&p);
}

/* ---- renaming ---- */

static bool is_below(const struct dh_inode *dir, const struct dh_inode *above)
{
    for (; dir; dir = dir->parent)
        if (dir == above)
            return true;
    return false;
}

/* Can `from` stand where `to` is? */
static long may_replace(const struct dh_path *from, const struct dh_path *to)
{
    bool directory = S_ISDIR(from->inode->about.st_mode);
    if (!to->inode)
        return 0;
    if (directory != (bool)S_ISDIR(to->inode->about.st_mode))
        return directory ? -ENOTDIR : -EISDIR;
    long result = may_remove(to);
    return result < 0 ? result : directory && !dh_directory_is_empty(to->inode) ? -ENOTEMPTY : 0;
}

static void move_directory(struct dh_inode *i, struct dh_inode *from, struct dh_inode *to)
{
    if (!S_ISDIR(i->about.st_mode))
        return;
    i->parent = to;
    from->about.st_nlink--;
    to->about.st_nlink++;
}

static long exchange(const struct dh_path *from, const struct dh_path *to)
{
    if (is_below(from->dir, to->inode))
        return -EINVAL;
    move_directory(from->inode, from->dir, to->dir);
    move_directory(to->inode, to->dir, from->dir);
    set_name(from, to->inode);
    set_name(to, from->inode);
    dh_inode_touch(to->inode, false);
    dh_inode_touch(from->inode, false);
    return 0;
}

static long replace(const struct dh_path *from, const struct dh_path *to)
{
    if (to->inode == from->inode)
        return 0;
    if (to->inode && is_below(from->dir, to->inode))
        return -ENOTEMPTY;
    long result = may_replace(from, to);
    if (result < 0)
        return result;
    if (to->inode) {
        to->dir->about.st_nlink -= S_ISDIR(to->inode->about.st_mode);
        unlink_inode(to->inode);
    }
    move_directory(from->inode, from->dir, to->dir);
    set_name(from, NULL);
    set_name(to, from->inode);
    dh_inode_touch(from->inode, false);
    return 0;
}

static long check_names(const struct dh_path *from, const struct dh_path *to, long flags)
{
    if (from->last != DH_LAST_NAME)
        return -EBUSY;
    if (to->last != DH_LAST_NAME)
        return flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
    if (from->dir->about.st_dev != to->dir->about.st_dev)
        return -EXDEV;
    if (!from->inode)
        return -ENOENT;
    if (flags & RENAME_NOREPLACE && to->inode)
        return -EEXIST;
    if (flags & RENAME_EXCHANGE && (!to->inode || (to->slash && !S_ISDIR(to->inode->about.st_mode))))
        return to->inode ? -ENOTDIR : -ENOENT;
    if (!S_ISDIR(from->inode->about.st_mode) && (from->slash || (to->slash && !(flags & RENAME_EXCHANGE))))
        return -ENOTDIR;
    if (is_below(to->dir, from->inode))
        return -EINVAL;
    return 0;
}

long dh_files_rename(long number, const long a[6])
{
    bool at = number != SYS_rename;
    long flags = number == SYS_renameat2 ? a[4] : 0;
    struct dh_path from, to;
    if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE) || flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
        return flags & RENAME_WHITEOUT ? dh_syscalls_cannot(number) : -EINVAL;
    long result = find_existing(number, at ? a[0] : AT_FDCWD, a[at], DH_PATH_CREATE, &from);
    if (result == 0)
        result = dh_path_walk(at ? a[2] : AT_FDCWD, a[at ? 3 : 1], DH_PATH_CREATE, &to);
    if (result < 0)
        return result;
    if (to.live)
        dh_syscalls_never(number);
    if ((result = check_names(&from, &to, flags)) < 0)
        return result;
    if ((result = may_remove(&from)) < 0 || (result = may_change(to.dir)) < 0)
        return result;
    return flags & RENAME_EXCHANGE ? exchange(&from, &to) : replace(&from, &to);
}
