#include "runtime/engine/system/files/file_locks.h"

#include "runtime/core/start.h"
#include "runtime/engine/system/descriptors/description.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

enum { WHOLE = 0, RANGE = 1 }; /* flock, and locks of bytes: they do not know of each other */

struct dh_file_lock {
    struct dh_file_lock *next;
    const struct dh_open_file *owner; /* NULL: the process */
    uint8_t family;
    bool exclusive;
    int64_t from, to; /* without `to` */
};

static struct dh_file_lock *unused;

/* ---- the list of an inode ---- */

static bool overlap(const struct dh_file_lock *a, const struct dh_file_lock *b)
{
    return a->family == b->family && a->from < b->to && b->from < a->to;
}

static const struct dh_file_lock *find_conflict(const struct dh_inode *i, const struct dh_file_lock *wanted)
{
    for (const struct dh_file_lock *l = i->locks; l; l = l->next)
        if (l->owner != wanted->owner && overlap(l, wanted) && (l->exclusive || wanted->exclusive))
            return l;
    return NULL;
}

static void add_lock(struct dh_inode *i, struct dh_file_lock lock)
{
    struct dh_file_lock *l = unused;
    if (l)
        unused = l->next;
    else
        l = dh_layer_alloc(sizeof *l);
    *l = lock;
    l->next = i->locks;
    i->locks = l;
}

/* What the owner holds of these bytes is given up; parts beside them stay. */
static void take_away(struct dh_inode *i, const struct dh_file_lock *of)
{
    struct dh_file_lock **at = &i->locks, *l;
    while ((l = *at)) {
        if (l->owner != of->owner || !overlap(l, of)) {
            at = &l->next;
            continue;
        }
        struct dh_file_lock before = *l, behind = *l;
        *at = l->next;
        l->next = unused;
        unused = l;
        before.to = of->from;
        behind.from = of->to;
        if (before.from < before.to)
            add_lock(i, before);
        if (behind.from < behind.to)
            add_lock(i, behind);
        at = &i->locks;
    }
}

void dh_locks_release_file(const struct dh_open_file *f)
{
    for (unsigned family = WHOLE; family <= RANGE; family++)
        take_away(f->inode, &(struct dh_file_lock){.owner = f, .family = (uint8_t)family, .from = 0, .to = INT64_MAX});
}

void dh_locks_release_process(struct dh_inode *i)
{
    take_away(i, &(struct dh_file_lock){.owner = NULL, .family = RANGE, .from = 0, .to = INT64_MAX});
}

/* ---- waiting ---- */

/* Of each task that waits; read at every decision. */
static struct wanted {
    int fd;
    struct dh_file_lock lock;
} *wanted; /* KEEP, by task */

bool dh_file_locks_init(void)
{
    wanted = dh_keep_alloc(DH_ENGINE_TASKS * sizeof *wanted);
    return wanted;
}

static uint32_t can_lock(const struct dh_task *t)
{
    const struct wanted *w = &wanted[t->index];
    const struct dh_open_file *f = dh_open_file_of(w->fd);
    return dh_io_alternatives(t, !f || !find_conflict(f->inode, &w->lock), DH_NEVER);
}

/* -EAGAIN: it is held by another and the call does not wait. */
static long set_lock(int fd, struct dh_file_lock lock, bool unlocks, bool waits)
{
    const struct dh_open_file *f = dh_open_file_of(fd);
    if (!wanted)
        return -ENOLCK;
    wanted[dh_engine->current->index] = (struct wanted){fd, lock};
    struct dh_io io = {.object = dh_inode_object(f->inode),
                       .fd = fd,
                       .flags = DH_STEP_READS | DH_STEP_WRITES,
                       .alternatives = waits && !unlocks ? can_lock : NULL};
    dh_io_step(&io);
    if (!(f = dh_open_file_of(fd)))
        return -EBADF;
    if (!unlocks && find_conflict(f->inode, &lock))
        return waits && dh_io_was_interrupted() ? -EINTR : -EAGAIN;
    take_away(f->inode, &lock);
    if (!unlocks)
        add_lock(f->inode, lock);
    return 0;
}

/* ---- calls ---- */

long dh_files_flock(long number, const long a[6])
{
    const struct dh_open_file *f = dh_open_file_of((int)a[0]);
    long how = a[1] & ~LOCK_NB;
    if (!f)
        return dh_syscalls_pass_through(number, a);
    if (how != LOCK_SH && how != LOCK_EX && how != LOCK_UN)
        return -EINVAL;
    if (f->flags & O_PATH)
        return -EBADF;
    struct dh_file_lock lock = {.owner = f, .family = WHOLE, .exclusive = how == LOCK_EX, .from = 0, .to = INT64_MAX};
    return set_lock((int)a[0], lock, how == LOCK_UN, !(a[1] & LOCK_NB));
}

bool dh_locks_is_request(long command)
{
    return command == F_GETLK || command == F_SETLK || command == F_SETLKW || command == F_OFD_GETLK ||
           command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

static long parse(const struct dh_open_file *f, const struct flock *l, struct dh_file_lock *out)
{
    int64_t base = l->l_whence == SEEK_SET   ? 0
                   : l->l_whence == SEEK_CUR ? f->offset
                   : l->l_whence == SEEK_END ? dh_content_size(f->inode)
                                             : -1,
            from = base + l->l_start;
    if (base < 0 || (l->l_type != F_RDLCK && l->l_type != F_WRLCK && l->l_type != F_UNLCK))
        return -EINVAL;
    out->family = RANGE;
    out->exclusive = l->l_type == F_WRLCK;
    out->from = l->l_len < 0 ? from + l->l_len : from;
    out->to = l->l_len == 0 ? INT64_MAX : l->l_len < 0 ? from : from + l->l_len;
    return out->from < 0 ? -EINVAL : 0;
}

static long get_lock(const struct dh_open_file *f, const struct dh_file_lock *asked, struct flock *l, long out)
{
    const struct dh_file_lock *other = find_conflict(f->inode, asked);
    if (!other)
        l->l_type = F_UNLCK;
    else
        *l = (struct flock){.l_type = other->exclusive ? F_WRLCK : F_RDLCK,
                            .l_whence = SEEK_SET,
                            .l_start = other->from,
                            .l_len = other->to == INT64_MAX ? 0 : other->to - other->from,
                            .l_pid = other->owner ? -1 : dh_process.pid};
    return dh_user_write(out, l, sizeof *l) ? 0 : -EFAULT;
}

long dh_locks_fcntl(const long a[6])
{
    const struct dh_open_file *f = dh_open_file_of((int)a[0]);
    bool by_file = a[1] == F_OFD_GETLK || a[1] == F_OFD_SETLK || a[1] == F_OFD_SETLKW;
    struct flock l;
    struct dh_file_lock lock = {.owner = by_file ? f : NULL};
    if (!dh_user_read(&l, a[2], sizeof l))
        return -EFAULT;
    if (by_file && l.l_pid)
        return -EINVAL;
    if (f->flags & O_PATH)
        return -EBADF;
    long result = parse(f, &l, &lock);
    if (result < 0)
        return result;
    if (a[1] == F_GETLK || a[1] == F_OFD_GETLK)
        return l.l_type == F_UNLCK ? -EINVAL : get_lock(f, &lock, &l, a[2]);
    if ((l.l_type == F_RDLCK && !dh_open_file_reads(f)) || (l.l_type == F_WRLCK && !dh_open_file_writes(f)))
        return -EBADF;
    return set_lock((int)a[0], lock, l.l_type == F_UNLCK, a[1] == F_SETLKW || a[1] == F_OFD_SETLKW);
}
