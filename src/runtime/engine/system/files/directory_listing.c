#include "runtime/engine/system/files/directory_listing.h"

#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"
#include "runtime/platform/bytes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

enum { BUFFER = 1 << 15, HEAD = offsetof(struct dirent64, d_name) };

/* Calls `each` for every name of the base that the layer did not remove, then for those it made, until one answers
 * false. */
struct visit {
    bool (*each)(struct visit *, const char *name, size_t length, uint64_t number, unsigned type);
    char *out; /* NULL: only counted */
    size_t n;
    int64_t index;
};

static unsigned type_of(mode_t mode)
{
    return (mode & S_IFMT) >> 12;
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static bool visit_base_name(struct dh_inode *dir, struct visit *v, const struct dirent64 *e)
{
    size_t length = dh_text_length(e->d_name);
    const struct dh_name *known = dh_name_find(dir, e->d_name, length);
    if (is_dots(e->d_name) || (known && !known->inode))
        return true;
    return v->each(v, e->d_name, length, known ? known->inode->about.st_ino : e->d_ino,
                   known ? type_of(known->inode->about.st_mode) : e->d_type);
}

static char *buffer; /* KEEP */

bool dh_listings_init(void)
{
    buffer = dh_keep_alloc(BUFFER);
    return buffer;
}

static bool visit_base(struct dh_inode *dir, struct visit *v)
{
    long fd = !dir->base || !buffer
                  ? -1
                  : dh_contents_move_away(dh_kernel_call(SYS_openat, AT_FDCWD, (long)dir->base,
                                                         O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0)),
         n;
    bool more = true;
    while (fd >= 0 && more && (n = dh_kernel_call(SYS_getdents64, fd, (long)buffer, BUFFER, 0, 0, 0)) > 0)
        for (long at = 0; more && at < n; at += ((const struct dirent64 *)(buffer + at))->d_reclen)
            more = visit_base_name(dir, v, (const struct dirent64 *)(buffer + at));
    if (fd >= 0)
        dh_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return more;
}

static void visit(struct dh_inode *dir, struct visit *v)
{
    bool more = visit_base(dir, v);
    for (const struct dh_name *n = dir->names; more && n; n = n->next)
        if (n->inode && !n->in_base)
            more = v->each(v, n->text, n->length, n->inode->about.st_ino, type_of(n->inode->about.st_mode));
}

static bool stop(struct visit *v, const char *name, size_t length, uint64_t number, unsigned type)
{
    (void)name, (void)length, (void)number, (void)type;
    v->n++;
    return false;
}

bool dh_directory_is_empty(struct dh_inode *dir)
{
    struct visit v = {.each = stop};
    visit(dir, &v);
    return !v.n;
}

/* ---- getdents ---- */

static bool add_entry(struct visit *v, const char *name, size_t length, uint64_t number, unsigned type)
{
    size_t size = (HEAD + length + 1 + 7) & ~(size_t)7;
    v->index++;
    if (v->out) {
        struct dirent64 *e = (struct dirent64 *)(v->out + v->n);
        e->d_ino = number;
        e->d_off = v->index;
        e->d_reclen = (unsigned short)size;
        e->d_type = (unsigned char)type;
        dh_bytes_copy(e->d_name, name, length);
        dh_bytes_zero(e->d_name + length, size - HEAD - length);
    }
    v->n += size;
    return true;
}

static void add_all(struct dh_inode *dir, struct visit *v)
{
    const struct dh_inode *parent = dir->parent ? dir->parent : dir;
    v->n = 0;
    v->index = 0;
    add_entry(v, ".", 1, dir->about.st_ino, DT_DIR);
    add_entry(v, "..", 2, parent->about.st_ino, DT_DIR);
    visit(dir, v);
}

/* Measured first, then written. */
static void take_listing(struct dh_open_file *f)
{
    struct visit v = {.each = add_entry};
    add_all(f->inode, &v);
    v.out = dh_layer_alloc(v.n);
    add_all(f->inode, &v);
    f->listing = v.out;
    f->listed = v.n;
}

static const struct dirent64 *entry_at(const struct dh_open_file *f, size_t at)
{
    return (const struct dirent64 *)(f->listing + at);
}

/* Position in the listing of the entry behind the one with this offset. */
static size_t seek(const struct dh_open_file *f, int64_t offset)
{
    size_t at = 0;
    while (at < f->listed && entry_at(f, at)->d_off <= offset)
        at += entry_at(f, at)->d_reclen;
    return at;
}

long dh_files_list(long number, const long a[6])
{
    struct dh_open_file *f = dh_open_file_of((int)a[0]);
    if (!f)
        return number == SYS_getdents64 ? dh_syscalls_pass_through(number, a) : dh_syscalls_cannot(number);
    if (number != SYS_getdents64)
        return dh_syscalls_cannot(number);
    if (f->flags & O_PATH)
        return -EBADF;
    if (!S_ISDIR(f->inode->about.st_mode))
        return -ENOTDIR;
    dh_names_step(false);
    if (f->inode->parent && !f->inode->about.st_nlink)
        return -ENOENT;
    if (!f->offset)
        take_listing(f);
    size_t from = seek(f, f->offset), to = from;
    while (to < f->listed && to + entry_at(f, to)->d_reclen - from <= (size_t)(unsigned)a[2]) {
        f->offset = entry_at(f, to)->d_off;
        to += entry_at(f, to)->d_reclen;
    }
    if (to == from && to < f->listed)
        return -EINVAL;
    return dh_user_write(a[1], f->listing + from, to - from) ? (long)(to - from) : -EFAULT;
}
