/* Reading and writing contents. Positions are kept here; the kernel moves the bytes. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/random_bytes.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIECES = 64 };

/* What a call wants to move. */
struct transfer {
    bool positioned;
    int64_t at;
    long n; /* pieces */
    struct iovec *pieces;
    struct iovec few[PIECES];
    int64_t size;
};

static bool is_vector(long number)
{
    return number != SYS_read && number != SYS_write && number != SYS_pread64 && number != SYS_pwrite64;
}

static long parse_pieces(long number, const long a[6], struct transfer *t)
{
    t->pieces = t->few;
    t->n = is_vector(number) ? a[2] : 1;
    if (t->n < 0 || t->n > IOV_MAX)
        return -EINVAL;
    if (t->n > PIECES)
        t->pieces = dh_layer_alloc((size_t)t->n * sizeof *t->pieces);
    if (!is_vector(number))
        t->few[0] = (struct iovec){(void *)a[1], (size_t)a[2]};
    else if (!dh_user_read(t->pieces, a[1], (size_t)t->n * sizeof *t->pieces))
        return -EFAULT;
    for (long i = 0; i < t->n; i++) {
        if ((int64_t)t->pieces[i].iov_len < 0)
            return is_vector(number) ? -EINVAL : -EFAULT;
        t->size += (int64_t)t->pieces[i].iov_len;
    }
    return 0;
}

static long parse(long number, const long a[6], struct transfer *t)
{
    t->positioned = number == SYS_pread64 || number == SYS_pwrite64 || number == SYS_preadv || number == SYS_pwritev ||
                    ((number == SYS_preadv2 || number == SYS_pwritev2) && a[3] != -1);
    t->at = t->positioned ? a[3] : 0;
    if (t->positioned && t->at < 0)
        return -EINVAL;
    return parse_pieces(number, a, t);
}

/* ---- reading ---- */

/* The same in every schedule. */
static long read_random(const struct transfer *t)
{
    for (long i = 0; i < t->n; i++)
        for (size_t at = 0; at < t->pieces[i].iov_len; at++) {
            unsigned char byte = dh_engine_random_byte();
            if (!dh_user_write((long)t->pieces[i].iov_base + (long)at, &byte, 1))
                return -EFAULT;
        }
    return t->size;
}

static long read_content(struct dh_open_file *f, const struct transfer *t)
{
    if (S_ISDIR(f->inode->about.st_mode))
        return -EISDIR;
    if (S_ISCHR(f->inode->about.st_mode))
        return read_random(t);
    long fd = dh_content_reader(f->inode);
    if (fd < 0)
        return fd;
    for (long i = 0; i < t->n; i++)
        dh_snapshot_unprotect((uintptr_t)t->pieces[i].iov_base, t->pieces[i].iov_len);
    int64_t at = t->positioned ? t->at : f->offset;
    long n = dh_kernel_call(SYS_preadv, fd, (long)t->pieces, t->n, at, at >> 32 >> 32, 0);
    if (n > 0 && !t->positioned)
        f->offset += n;
    return n;
}

/* No file of the layer: what has no model leads out of the process. */
static long read_foreign(long number, const long a[6])
{
    struct stat s;
    if (dh_files_is_own(a[0]) || dh_kernel_call(SYS_fstat, a[0], (long)&s, 0, 0, 0, 0) < 0)
        return -EBADF;
    bool known = S_ISREG(s.st_mode) || S_ISDIR(s.st_mode) || S_ISCHR(s.st_mode);
    return known ? dh_syscalls_pass_through(number, a) : dh_syscalls_cannot(number);
}

/* Whether a position is used by one task only is not known: who moves it changes the file. */
long dh_files_read(long number, const long a[6])
{
    struct transfer t = {0};
    bool moves = number == SYS_read || number == SYS_readv;
    struct dh_open_file *f = dh_content_step((int)a[0], moves && dh_open_file_is_shared((int)a[0]));
    if (!f)
        return read_foreign(number, a);
    if (!dh_open_file_reads(f))
        return -EBADF;
    long result = parse(number, a, &t);
    return result < 0 ? result : read_content(f, &t);
}

/* ---- writing ---- */

static long write_content(struct dh_open_file *f, const struct transfer *t)
{
    struct dh_inode *i = f->inode;
    long fd = t->size ? dh_content_writer(i) : 0;
    if (!t->size || fd < 0)
        return fd;
    int64_t at = f->flags & O_APPEND ? dh_content_size(i) : t->positioned ? t->at : f->offset;
    long result = dh_content_reserve(i, at, at + t->size);
    if (result < 0)
        return result;
    long n = dh_kernel_call(SYS_pwritev, fd, (long)t->pieces, t->n, at, at >> 32 >> 32, 0);
    if (n == -EFBIG) /* RLIMIT_FSIZE */
        dh_signals_send(dh_engine_self(), SIGXFSZ, NULL);
    if (n <= 0)
        return n;
    if (!t->positioned)
        f->offset = at + n;
    i->about.st_mode &= (mode_t) ~(i->about.st_mode & S_IXGRP ? S_ISUID | S_ISGID : S_ISUID);
    dh_inode_touch(i, true);
    return n;
}

/* The program's output leaves it, or is discarded. */
static long write_output(const struct dh_open_file *f, long number, const long a[6], const struct transfer *t)
{
    if (!(dh_engine->flags & DH_ENGINE_OUTPUT))
        return t->size;
    long to_real[6] = {f->real, a[1], a[2], a[3], a[4], a[5]};
    return dh_syscalls_pass_through(number, to_real);
}

/* No file of the layer: terminals and the like; what leaves the process is discarded. */
static long write_foreign(long number, const long a[6])
{
    struct transfer t = {0};
    struct stat s;
    long fd = a[0];
    if (dh_files_is_own(fd) || dh_kernel_call(SYS_fstat, fd, (long)&s, 0, 0, 0, 0) < 0)
        return -EBADF;
    bool output = fd == 1 || fd == 2;
    if (dh_files_is_new((int)fd) || (output && dh_engine->flags & DH_ENGINE_OUTPUT))
        return dh_syscalls_pass_through(number, a);
    if (!output && !S_ISCHR(s.st_mode))
        return dh_syscalls_cannot(number);
    long result = parse(number, a, &t);
    return result < 0 ? result : t.size;
}

long dh_files_write(long number, const long a[6])
{
    struct transfer t = {0};
    struct dh_open_file *f = dh_open_file_of((int)a[0]);
    if (!f)
        return write_foreign(number, a);
    /* What standard output is makes no difference to a schedule. */
    if (f->real < 0 && !(f = dh_content_step((int)a[0], true)))
        return -EBADF;
    if (!dh_open_file_writes(f))
        return -EBADF;
    long result = parse(number, a, &t);
    if (result < 0)
        return result;
    if (f->real >= 0)
        return write_output(f, number, a, &t);
    return S_ISCHR(f->inode->about.st_mode) ? t.size : write_content(f, &t);
}

/* ---- positions and sizes ---- */

static int64_t seek_in_content(struct dh_open_file *f, int64_t offset, long whence)
{
    long fd = dh_content_reader(f->inode);
    return fd < 0 ? fd : dh_kernel_call(SYS_lseek, fd, offset, whence, 0, 0, 0);
}

static int64_t seek(struct dh_open_file *f, int64_t offset, long whence)
{
    bool directory = S_ISDIR(f->inode->about.st_mode);
    switch (whence) {
    case SEEK_SET:
        return offset;
    case SEEK_CUR:
        return f->offset + offset;
    case SEEK_END:
        return (directory ? LONG_MAX : dh_content_size(f->inode)) + offset;
    case SEEK_DATA:
    case SEEK_HOLE:
        return directory ? -EINVAL : seek_in_content(f, offset, whence);
    default:
        return -EINVAL;
    }
}

long dh_files_seek(long number, const long a[6])
{
    struct dh_open_file *f = dh_content_step((int)a[0], dh_open_file_is_shared((int)a[0]));
    if (!f)
        return dh_syscalls_pass_through(number, a);
    if (f->flags & O_PATH)
        return -EBADF;
    int64_t at = S_ISCHR(f->inode->about.st_mode) ? 0 : seek(f, a[1], a[2]);
    if (at < 0)
        return a[2] <= SEEK_END ? -EINVAL : at;
    return f->offset = at;
}

static long set_size(struct dh_inode *i, int64_t size)
{
    long result = dh_content_truncate(i, size);
    if (result == 0)
        dh_inode_touch(i, true);
    return result;
}

static long truncate_path(const long a[6])
{
    struct dh_path p;
    dh_names_step(true);
    long result = a[1] < 0 ? -EINVAL : dh_path_walk(AT_FDCWD, a[0], DH_PATH_FOLLOW, &p);
    if (result < 0)
        return result;
    if (p.live)
        return dh_syscalls_cannot(SYS_truncate);
    if (!S_ISREG(p.inode->about.st_mode))
        return S_ISDIR(p.inode->about.st_mode) ? -EISDIR : -EINVAL;
    result = dh_inode_permits(p.inode, 2 /* W_OK */);
    return result < 0 ? result : set_size(p.inode, a[1]);
}

long dh_files_truncate(long number, const long a[6])
{
    if (number == SYS_truncate)
        return truncate_path(a);
    struct dh_open_file *f = dh_content_step((int)a[0], true);
    if (!f)
        return dh_syscalls_pass_through(number, a);
    if (a[1] < 0)
        return -EINVAL;
    if (f->flags & O_PATH)
        return -EBADF;
    return !dh_open_file_writes(f) || !S_ISREG(f->inode->about.st_mode) ? -EINVAL : set_size(f->inode, a[1]);
}

/* As the file in memory does it. */
long dh_files_allocate(long number, const long a[6])
{
    struct dh_open_file *f = dh_content_step((int)a[0], true);
    if (!f)
        return dh_syscalls_pass_through(number, a);
    if (a[2] < 0 || a[3] <= 0)
        return -EINVAL;
    if (!dh_open_file_writes(f))
        return -EBADF;
    if (!S_ISREG(f->inode->about.st_mode))
        return S_ISDIR(f->inode->about.st_mode) ? -EISDIR : -ENODEV;
    long fd = dh_content_writer(f->inode), result = fd < 0 ? fd : dh_content_reserve(f->inode, a[2], a[2] + a[3]);
    if (result == 0)
        result = dh_kernel_call(number, fd, a[1], a[2], a[3], 0, 0);
    if (result == 0)
        dh_inode_touch(f->inode, true);
    return result;
}

long dh_files_nothing(long number, const long a[6])
{
    const struct dh_open_file *f = dh_open_file_of((int)a[0]);
    if (!f)
        return dh_syscalls_pass_through(number, a);
    return f->flags & O_PATH ? -EBADF : 0;
}
