/* Extended attributes: those of the base, but for what was set and removed in the layer. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/files/file_layer.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <linux/xattr.h>
#include <unistd.h>

enum { NAME = 256 };

struct dh_attribute {
    struct dh_attribute *next;
    const char *name;
    const char *value; /* NULL: it was removed */
    size_t size;
};

static const struct row {
    long number;
    bool by_number, of_link, changes, lists, removes;
} rows[] = {
    {SYS_getxattr, .by_number = false},
    {SYS_lgetxattr, .of_link = true},
    {SYS_fgetxattr, .by_number = true},
    {SYS_listxattr, .lists = true},
    {SYS_llistxattr, .of_link = true, .lists = true},
    {SYS_flistxattr, .by_number = true, .lists = true},
    {SYS_setxattr, .changes = true},
    {SYS_lsetxattr, .of_link = true, .changes = true},
    {SYS_fsetxattr, .by_number = true, .changes = true},
    {SYS_removexattr, .changes = true, .removes = true},
    {SYS_lremovexattr, .of_link = true, .changes = true, .removes = true},
    {SYS_fremovexattr, .by_number = true, .changes = true, .removes = true},
};

/* That the kernel may write to. */
static char *room_for(size_t n)
{
    char *at = dh_layer_alloc(n);
    dh_snapshot_unprotect((uintptr_t)at, n);
    return at;
}

static struct dh_attribute *find(const struct dh_inode *i, const char *name)
{
    for (struct dh_attribute *a = i->attributes; a; a = a->next)
        if (dh_text_equal(a->name, name))
            return a;
    return NULL;
}

static long of_base(const struct dh_inode *i, const char *name, void *to, size_t n)
{
    if (!i->base)
        return -ENODATA;
    return dh_kernel_call(SYS_lgetxattr, (long)i->base, (long)name, (long)to, (long)n, 0, 0);
}

/* ---- reading ---- */

static long answer(const void *from, size_t size, long to, size_t room)
{
    if (!room)
        return (long)size;
    if (room < size)
        return -ERANGE;
    return dh_user_write(to, from, size) ? (long)size : -EFAULT;
}

static long get(const struct dh_inode *i, const char *name, long to, size_t room)
{
    const struct dh_attribute *a = find(i, name);
    if (a)
        return a->value ? answer(a->value, a->size, to, room) : -ENODATA;
    char *value = room ? room_for(room < XATTR_SIZE_MAX ? room : XATTR_SIZE_MAX) : NULL;
    long n = of_base(i, name, value, room < XATTR_SIZE_MAX ? room : XATTR_SIZE_MAX);
    return n < 0 || !room ? n : answer(value, (size_t)n, to, room);
}

/* Names of the base that were not changed, then those that were set. */
static size_t collect(const struct dh_inode *i, char *out)
{
    char *known = room_for(XATTR_LIST_MAX);
    long n = i->base ? dh_kernel_call(SYS_llistxattr, (long)i->base, (long)known, XATTR_LIST_MAX, 0, 0, 0) : 0;
    size_t used = 0;
    for (long at = 0; at < n; at += (long)dh_text_length(known + at) + 1)
        if (!find(i, known + at)) {
            dh_bytes_copy(out + used, known + at, dh_text_length(known + at) + 1);
            used += dh_text_length(known + at) + 1;
        }
    for (const struct dh_attribute *a = i->attributes; a; a = a->next) {
        size_t length = dh_text_length(a->name) + 1;
        if (!a->value || used + length > XATTR_LIST_MAX)
            continue;
        dh_bytes_copy(out + used, a->name, length);
        used += length;
    }
    return used;
}

static long list(const struct dh_inode *i, long to, size_t room)
{
    char *names = dh_layer_alloc(2 * XATTR_LIST_MAX);
    return answer(names, collect(i, names), to, room);
}

/* ---- changing ---- */

/* Has the file system that it is on, or would be, any? */
static bool are_supported(const struct dh_inode *i)
{
    while (!i->base && i->parent)
        i = i->parent;
    return dh_kernel_call(SYS_getxattr, (long)(i->base ? i->base : "/"), (long)"user.deadheat", 0, 0, 0, 0) !=
           -EOPNOTSUPP;
}

/* Others than the user's belong to the system. */
static long may_change(const struct dh_inode *i, const char *name)
{
    if (!dh_text_after(name, XATTR_USER_PREFIX))
        return dh_text_after(name, XATTR_TRUSTED_PREFIX) || dh_text_after(name, XATTR_SECURITY_PREFIX) ? -EPERM
                                                                                                       : -EOPNOTSUPP;
    if (!S_ISREG(i->about.st_mode) && !S_ISDIR(i->about.st_mode))
        return -EPERM;
    return are_supported(i) ? dh_inode_permits(i, W_OK) : -EOPNOTSUPP;
}

static bool exists(const struct dh_inode *i, const char *name)
{
    const struct dh_attribute *a = find(i, name);
    return a ? a->value != NULL : of_base(i, name, NULL, 0) >= 0;
}

static void put(struct dh_inode *i, const char *name, const char *value, size_t size)
{
    struct dh_attribute *a = find(i, name);
    if (!a) {
        a = dh_layer_alloc(sizeof *a);
        *a = (struct dh_attribute){i->attributes, dh_layer_text(name, dh_text_length(name)), NULL, 0};
        i->attributes = a;
    }
    a->value = value;
    a->size = size;
    dh_inode_touch(i, false);
}

static long set(struct dh_inode *i, const char *name, const long a[6])
{
    size_t size = (size_t)a[3];
    if (a[4] & ~(XATTR_CREATE | XATTR_REPLACE))
        return -EINVAL;
    if (size > XATTR_SIZE_MAX)
        return -E2BIG;
    bool there = exists(i, name);
    if (there && a[4] & XATTR_CREATE)
        return -EEXIST;
    if (!there && a[4] & XATTR_REPLACE)
        return -ENODATA;
    char *value = room_for(size + 1);
    if (size && !dh_user_read(value, a[2], size))
        return -EFAULT;
    put(i, name, value, size);
    return 0;
}

static long remove_one(struct dh_inode *i, const char *name)
{
    if (!exists(i, name))
        return -ENODATA;
    put(i, name, NULL, 0);
    return 0;
}

/* ---- the calls ---- */

static const struct row *row_of(long number)
{
    const struct row *r = rows;
    while (r->number != number)
        r++;
    return r;
}

static long pass(const struct row *r, const long a[6], const char *live)
{
    long real[6] = {live ? (long)live : a[0], a[1], a[2], a[3], a[4], a[5]};
    return dh_syscalls_pass_through(!live ? r->number : r->lists ? SYS_llistxattr : SYS_lgetxattr, real);
}

static long perform(const struct row *r, struct dh_inode *i, const long a[6])
{
    char name[NAME];
    if (r->lists)
        return list(i, a[1], (size_t)a[2]);
    long n = dh_user_read_text(name, sizeof name, a[1]);
    if (n <= 0)
        return n == 0 || n == -ENAMETOOLONG ? -ERANGE : n;
    long result = r->changes ? may_change(i, name) : 0;
    if (result < 0)
        return result;
    return r->removes ? remove_one(i, name) : r->changes ? set(i, name, a) : get(i, name, a[2], (size_t)a[3]);
}

long dh_files_xattr(long number, const long a[6])
{
    const struct row *r = row_of(number);
    struct dh_attribute_call call = {.by_number = r->by_number, .of_link = r->of_link, .changes = r->changes};
    long result = dh_files_find_for_attributes(number, a, &call);
    if (result < 0)
        return result;
    return call.inode ? perform(r, call.inode, a) : pass(r, a, call.live);
}
