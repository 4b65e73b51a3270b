#include "runtime/engine/system/files/file_mappings.h"

#include "runtime/engine/restore/undo.h"
#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/proc_maps.h"
#include "runtime/engine/system/user_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

/* A shared mapping of real content: it cannot be written. */
struct mapping {
    struct mapping *next;
    const struct dh_inode *inode; /* NULL: unmapped */
    long at, size, protection, offset;
    bool before; /* the first thread */
};

static struct mapping *mappings;

/* Writable since before the first thread. */
static struct shared {
    struct shared *next;
    long at, size;
} *shared;

static void remember(const struct dh_inode *i, const long a[6], long at, bool before)
{
    struct mapping *m = dh_layer_alloc(sizeof *m);
    *m = (struct mapping){mappings, i, at, a[1], a[2], a[5], before};
    mappings = m;
}

/* ---- mmap ---- */

static bool is_shared(const long a[6])
{
    return (a[3] & MAP_TYPE) == MAP_SHARED || (a[3] & MAP_TYPE) == MAP_SHARED_VALIDATE;
}

/* Of what can be written through the mapping, now or after mprotect, every byte may have changed. */
static long source_to_write(struct dh_inode *i, const long a[6])
{
    long fd = dh_content_writer(i);
    int64_t size = dh_content_size(i), end = a[5] + a[1];
    if (fd >= 0)
        dh_content_set_mapped(i);
    if (fd >= 0 && a[5] < size)
        dh_content_reserve(i, a[5], end < size ? end : size);
    return fd;
}

long dh_shared_mappings_source(const long a[6], long *fd)
{
    struct dh_open_file *f = a[3] & MAP_ANONYMOUS ? NULL : dh_content_step((int)a[4], false);
    if (!f)
        return 0;
    bool writes = is_shared(a) && dh_open_file_writes(f);
    if (f->flags & O_PATH)
        return -EBADF;
    if (!dh_open_file_reads(f) || (is_shared(a) && a[2] & PROT_WRITE && !writes))
        return -EACCES;
    if (!S_ISREG(f->inode->about.st_mode))
        return -ENODEV;
    f->inode->mapped = true;
    *fd = writes ? source_to_write(f->inode, a) : dh_content_reader(f->inode);
    return *fd < 0 ? *fd : 0;
}

void dh_shared_mappings_add(const long a[6], long at)
{
    const struct dh_open_file *f = a[3] & MAP_ANONYMOUS ? NULL : dh_open_file_of((int)a[4]);
    if (f && is_shared(a) && !f->inode->content)
        remember(f->inode, a, at, false);
}

void dh_shared_mappings_remove(long at, long size)
{
    for (struct mapping *m = mappings; m; m = m->next)
        if (m->at < at + size && at < m->at + m->size)
            m->inode = NULL;
}

void dh_shared_mappings_follow(const struct dh_inode *i, long copy)
{
    for (struct mapping *m = mappings; m; m = m->next) {
        if (m->inode != i)
            continue;
        if (m->before)
            dh_engine_cannot("a file is changed that was mapped before the first thread");
        dh_kernel_call(SYS_mmap, m->at, m->size, m->protection, MAP_SHARED | MAP_FIXED, copy, m->offset);
    }
}

/* ---- at the snapshot ---- */

/* The open file of that mapping, or what its path says. */
static struct dh_inode *inode_of(const struct dh_proc_mapping *m)
{
    struct dh_path p;
    struct dh_inode *open = dh_open_file_inode(m->device, m->inode);
    if (open)
        return open;
    if (m->path[0] != '/' || dh_path_walk_own(m->path, DH_PATH_FOLLOW, &p) < 0 || !p.inode)
        return NULL;
    return p.inode->about.st_dev == m->device && p.inode->about.st_ino == m->inode ? p.inode : NULL;
}

static bool is_ours(const struct dh_proc_mapping *m)
{
    uintptr_t control = (uintptr_t)dh_engine->control;
    return dh_keep_contains(m->low) || (control >= m->low && control < m->high);
}

static void remember_shared(const struct dh_proc_mapping *m)
{
    struct shared *s = dh_layer_alloc(sizeof *s);
    *s = (struct shared){shared, (long)m->low, (long)(m->high - m->low)};
    shared = s;
}

/* A mapping that no descriptor and no path leads to is memory like any other. */
static bool take_over(const struct dh_proc_mapping *m, void *unused)
{
    (void)unused;
    if (!m->shared || is_ours(m) || m->kernel)
        return true;
    struct dh_inode *i = m->inode ? inode_of(m) : NULL;
    long size = (long)(m->high - m->low), protection = PROT_READ | (m->executable ? PROT_EXEC : 0);
    const long a[6] = {(long)m->low, size, protection, MAP_SHARED, -1, (long)m->offset};
    if (m->writable)
        remember_shared(m);
    if (!i || !S_ISREG(i->about.st_mode))
        return true;
    i->mapped = true;
    if (!m->writable) {
        remember(i, a, (long)m->low, true);
        return true;
    }
    long copy = dh_content_pin(i);
    return copy >= 0 && dh_kernel_call(SYS_mmap, (long)m->low, size, protection | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                                       copy, (long)m->offset) == (long)m->low;
}

void dh_shared_mappings_take_over(void)
{
    if (!dh_proc_maps_each(take_over, NULL))
        dh_engine_cannot("a shared mapping of a file cannot be copied");
}

/* ---- in children ---- */

/* Pages behind the end of a file cannot be read, and need not be. */
static void copy_pages(long to, long from, long size, bool (*copy)(long to, long from))
{
    for (long at = 0; at < size && copy(to + at, from + at); at += DH_ENGINE_PAGE)
        ;
}

static bool read_page(long to, long from)
{
    return dh_user_read((void *)to, from, DH_ENGINE_PAGE);
}

static bool write_page(long to, long from)
{
    return dh_user_write(to, (const void *)from, DH_ENGINE_PAGE);
}

void dh_shared_mappings_in_child(void)
{
    for (const struct shared *s = shared; s; s = s->next) {
        long copy = dh_kernel_call(SYS_mmap, 0, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if ((unsigned long)copy > -4096ul)
            dh_engine_cannot("no memory");
        copy_pages(copy, s->at, s->size, read_page);
        dh_undo_log(DH_UNDO_SHARED, s->at, s->size, copy);
    }
}

void dh_shared_mappings_restore(long at, long size, long content)
{
    copy_pages(at, content, size, write_page);
}
