/* sendfile, splice and copy_file_range between files, and from a file to what is not one. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"

#include <errno.h>
#include <fcntl.h>

enum { BUFFER = 1 << 16 };

struct copy {
    struct dh_open_file *from, *to;
    long from_at, to_at; /* the program's offsets, or 0: the files' own */
    int64_t from_offset, to_offset;
    size_t size;
};

static char *buffer; /* KEEP */

bool dh_file_copies_init(void)
{
    buffer = dh_keep_alloc(BUFFER);
    return buffer;
}

static bool get_offset(long at, const struct dh_open_file *f, int64_t *out)
{
    *out = f->offset;
    return !at || dh_user_read(out, at, sizeof *out);
}

static bool put_offset(long at, struct dh_open_file *f, int64_t offset)
{
    if (at)
        return dh_user_write(at, &offset, sizeof offset);
    f->offset = offset;
    return true;
}

static long copy_part(struct copy *c, long from, long to, size_t done)
{
    size_t part = c->size - done < BUFFER ? c->size - done : BUFFER;
    long n = dh_kernel_call(SYS_pread64, from, (long)buffer, (long)part, c->from_offset + (int64_t)done, 0, 0);
    if (n <= 0)
        return n;
    int64_t at = c->to_offset + (int64_t)done;
    long result = dh_content_reserve(c->to->inode, at, at + n);
    return result < 0 ? result : dh_kernel_call(SYS_pwrite64, to, (long)buffer, n, at, 0, 0);
}

static long copy(struct copy *c)
{
    long to = dh_content_writer(c->to->inode), from = to < 0 ? to : dh_content_reader(c->from->inode), n = 0;
    size_t done = 0;
    if (from < 0 || !buffer)
        return from < 0 ? from : -ENOMEM;
    while (done < c->size && (n = copy_part(c, from, to, done)) > 0)
        done += (size_t)n;
    if (!done)
        return n;
    dh_inode_touch(c->to->inode, true);
    bool ok = put_offset(c->from_at, c->from, c->from_offset + (int64_t)done) &&
              put_offset(c->to_at, c->to, c->to_offset + (int64_t)done);
    return ok ? (long)done : -EFAULT;
}

static bool is_directory(const struct copy *c)
{
    return S_ISDIR(c->from->inode->about.st_mode) || S_ISDIR(c->to->inode->about.st_mode);
}

/* Cut to what there is to copy. */
static long check_range(struct copy *c)
{
    int64_t left = dh_content_size(c->from->inode) - c->from_offset;
    if ((c->from->flags | c->to->flags) & O_PATH)
        return -EBADF;
    if (is_directory(c))
        return -EISDIR;
    if (!dh_open_file_reads(c->from) || !dh_open_file_writes(c->to) || c->to->flags & O_APPEND)
        return -EBADF;
    if (c->from_offset < 0 || c->to_offset < 0)
        return -EINVAL;
    c->size = left <= 0 ? 0 : (uint64_t)left < c->size ? (size_t)left : c->size;
    int64_t size = (int64_t)c->size;
    bool overlap =
        c->from->inode == c->to->inode && c->to_offset + size > c->from_offset && c->to_offset < c->from_offset + size;
    return overlap ? -EINVAL : 0;
}

static long check_sendfile(const struct copy *c)
{
    if (!dh_open_file_reads(c->from) || !dh_open_file_writes(c->to))
        return -EBADF;
    if (c->to->flags & O_APPEND || c->from_offset < 0)
        return -EINVAL;
    return is_directory(c) && c->size ? -EINVAL : 0;
}

/* Two files: the steps of both come first, the copy is done with the second. */
static long copy_between(long number, const long a[6], int in, int out)
{
    bool range = number == SYS_copy_file_range;
    dh_content_step(in, false);
    dh_content_step(out, true);
    struct copy c = {.from = dh_open_file_of(in),
                     .to = dh_open_file_of(out),
                     .from_at = range ? a[1] : a[2],
                     .to_at = range ? a[3] : 0,
                     .size = (size_t)(range ? a[4] : a[3])};
    if (!c.from || !c.to)
        return -EBADF;
    if (!get_offset(c.from_at, c.from, &c.from_offset) || !get_offset(c.to_at, c.to, &c.to_offset))
        return -EFAULT;
    if (range && a[5])
        return -EINVAL;
    long result = range ? check_range(&c) : check_sendfile(&c);
    return result < 0 || !c.size ? result : copy(&c);
}

/* Out of a file: what is written is the program's call of write, with our memory. */
static long send_file(int out, int in, long at, size_t size)
{
    struct dh_open_file *from = dh_content_step(in, false);
    int64_t offset;
    if (!from || !dh_open_file_reads(from))
        return -EBADF;
    if (!get_offset(at, from, &offset) || !buffer)
        return -EFAULT;
    long fd = dh_content_reader(from->inode);
    long n = fd < 0
                 ? fd
                 : dh_kernel_call(SYS_pread64, fd, (long)buffer, (long)(size < BUFFER ? size : BUFFER), offset, 0, 0);
    if (n <= 0)
        return n;
    const long to[6] = {out, (long)buffer, n};
    long written = dh_syscalls_perform(SYS_write, to);
    from = dh_open_file_of(in);
    if (written > 0 && from && !put_offset(at, from, offset + written))
        return -EFAULT;
    return written;
}

long dh_files_copy(long number, const long a[6])
{
    int in = (int)(number == SYS_sendfile ? a[1] : a[0]), out = (int)(number == SYS_sendfile ? a[0] : a[2]);
    bool from_file = dh_files_serves(in), to_file = dh_files_serves(out);
    if (!dh_files_is_open(in) || !dh_files_is_open(out))
        return -EBADF;
    if (number != SYS_splice && from_file && to_file)
        return copy_between(number, a, in, out);
    if (number == SYS_sendfile && from_file)
        return send_file(out, in, a[2], (size_t)a[3]);
    if (number == SYS_splice && from_file && !a[3])
        return send_file(out, in, a[1], (size_t)a[4]);
    if (number == SYS_splice && from_file && to_file)
        return -EINVAL;
    dh_syscalls_never(number);
}
